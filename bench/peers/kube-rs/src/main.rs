//! kube-rs' ordinary reflector as a peer in the benchmarks: a typed client, a watcher, a reflector with its store.
//! It takes its task as JSON in its only argument and prints one line of JSON.

mod cases;
mod meter;
mod pods;

use serde::{Deserialize, Serialize};

/// The request of the runner. Cases: watch, sync, latency, memory.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    case: String,
    #[serde(default)]
    url: String,
    token: Option<String>,
    /// PEM, or a file that holds it.
    ca: Option<String>,
    #[serde(default = "default_resource")]
    resource: String,
    #[serde(default)]
    events: u64,
    /// key, metadata or object
    #[serde(default = "default_handler")]
    handler: String,
    #[serde(default = "default_objects")]
    objects: u64,
    /// Time without an event after which the case fails.
    #[serde(default = "default_idle_timeout_ms")]
    idle_timeout_ms: u64,
    /// Number of first events that are not measured.
    #[serde(default)]
    warm_up_events: u64,
}

fn default_resource() -> String {
    "pods".into()
}

fn default_handler() -> String {
    "key".into()
}

fn default_objects() -> u64 {
    20_000
}

fn default_idle_timeout_ms() -> u64 {
    60_000
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    client: &'static str,
    version: &'static str,
    events: u64,
    elapsed_ms: f64,
    cpu_ms: f64,
    /// Peak of resident memory.
    rss_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    settled_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<meter::Latency>,
    checksum: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() {
    let mut answer =
        run().await.unwrap_or_else(|error| Answer { error: Some(error.to_string()), ..Answer::default() });
    answer.client = "kube-rs";
    answer.version = env!("KUBE_VERSION");
    println!("{}", serde_json::to_string(&answer).expect("an answer is JSON"));
    // An open watch need not be closed in order.
    std::process::exit(0);
}

async fn run() -> Result<Answer, Failure> {
    let text =
        std::env::args().nth(1).ok_or("usage: kube-rs-peer '{\"case\":\"watch\",\"url\":\"http://…\",…}'")?;
    let task: Task = serde_json::from_str(&text).map_err(|error| format!("the task is not JSON: {error}"))?;
    if task.resource != "pods" {
        return Err(format!("this peer watches pods, not {:?}", task.resource).into());
    }
    match task.case.as_str() {
        "watch" | "latency" => cases::watch(&task).await,
        "sync" | "memory" => cases::sync(&task).await,
        other => Err(format!("unknown case {other:?}").into()),
    }
}
