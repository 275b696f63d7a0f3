//! The cases: each is one stream of reflector and watcher, as in the documentation of kube-rs, polled to its end.

use std::pin::pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::{Stream, StreamExt};
use hdrhistogram::Histogram;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, reflector};
use tokio::time::timeout;

use crate::meter::{Meter, quantiles, resident_bytes};
use crate::{Answer, Failure, Task, pods};

/// The wall-clock time at which the source sent the event, in microseconds since the epoch.
const SENT_ANNOTATION: &str = "kubeloom.io/sent-us";

/// Measures the changes that follow the list, from the first to the last.
pub async fn watch(task: &Task) -> Result<Answer, Failure> {
    let mut stream = pin!(stream(pods::api(task).await?));
    let mut meter = Meter::new();
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 600_000_000, 3)?;
    let mut warm_up = task.warm_up_events;
    while meter.events + task.warm_up_events < task.events {
        match next(&mut stream, task, &meter).await? {
            Event::InitApply(pod) => {
                pods::touch(&task.handler, &pod);
            }
            Event::Apply(pod) if warm_up > 0 => {
                warm_up -= 1;
                pods::touch(&task.handler, &pod);
            }
            Event::Apply(pod) => {
                if meter.events == 0 {
                    meter.begin();
                }
                meter.add(pods::touch(&task.handler, &pod));
                if task.case == "latency" {
                    record(&mut histogram, &pod);
                }
            }
            _ => {}
        }
    }
    meter.end();
    Ok(Answer { latency: quantiles(&histogram), ..meter.answer() })
}

/// Measures from the creation of the client until the handler has received every object. Memory is the resident
/// memory at that time, because there is no garbage collector.
pub async fn sync(task: &Task) -> Result<Answer, Failure> {
    let mut meter = Meter::new();
    let mut stream = pin!(stream(pods::api(task).await?));
    while meter.events < task.objects {
        if let Event::InitApply(pod) | Event::Apply(pod) = next(&mut stream, task, &meter).await? {
            meter.add(pods::touch(&task.handler, &pod));
        }
    }
    meter.end();
    Ok(Answer { settled_bytes: (task.case == "memory").then(resident_bytes), ..meter.answer() })
}

/// LIST in pages and then WATCH, which is the default; every object is cloned into the store on its way.
fn stream(api: Api<Pod>) -> impl Stream<Item = watcher::Result<Event<Pod>>> {
    let (_, writer) = reflector::store();
    reflector(writer, watcher::watcher(api, watcher::Config::default())).default_backoff()
}

/// Returns the next object. Errors are skipped, because the watcher recovers from them, until the idle timeout.
async fn next<S>(stream: &mut S, task: &Task, meter: &Meter) -> Result<Event<Pod>, Failure>
where
    S: Stream<Item = watcher::Result<Event<Pod>>> + Unpin,
{
    let idle = Duration::from_millis(task.idle_timeout_ms);
    let mut last_error = String::new();
    let end = tokio::time::Instant::now() + idle;
    loop {
        match timeout(end - tokio::time::Instant::now(), stream.next()).await {
            Ok(Some(Ok(event @ (Event::InitApply(_) | Event::Apply(_))))) => return Ok(event),
            // A list that fails begins again and again, which is not progress.
            Ok(Some(Ok(_))) => {}
            Ok(Some(Err(error))) => last_error = format!("; the last error was: {error}"),
            Ok(None) => return Err("the watcher's stream ended".into()),
            Err(_) => {
                let counted = meter.events;
                return Err(format!("no event for {idle:?} after {counted} of them{last_error}").into());
            }
        }
    }
}

fn record(histogram: &mut Histogram<u64>, pod: &Pod) {
    let annotations = pod.metadata.annotations.as_ref();
    let sent = annotations.and_then(|all| all.get(SENT_ANNOTATION)).and_then(|text| text.parse::<u64>().ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64;
    if let Some(sent) = sent {
        histogram.saturating_record(now.saturating_sub(sent).max(1));
    }
}
