//! The client of the source, and the reads of handlers.

use std::hint::black_box;

use k8s_openapi::api::core::v1::Pod;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};

use crate::{Failure, Task};

/// Typed pods of all namespaces. kube-rs supports JSON only.
pub async fn api(task: &Task) -> Result<Api<Pod>, Failure> {
    Ok(Api::all(Client::try_from(config(task).await?)?))
}

async fn config(task: &Task) -> Result<Config, Failure> {
    let Some(ca) = &task.ca else {
        let mut config = Config::new(task.url.parse()?);
        config.auth_info = AuthInfo { token: task.token.clone().map(Into::into), ..AuthInfo::default() };
        return Ok(config);
    };
    // A kubeconfig, because that is where kube-rs reads PEM.
    let file = if ca.trim_start().starts_with("-----BEGIN") {
        let path = std::env::temp_dir().join(format!("kube-rs-peer-{}.pem", std::process::id()));
        std::fs::write(&path, ca)?;
        path
    } else {
        ca.into()
    };
    let text = serde_json::json!({
        "clusters": [{"name": "source", "cluster": {"server": task.url, "certificate-authority": file}}],
        "users": [{"name": "peer", "user": {"token": task.token}}],
        "contexts": [{"name": "peer", "context": {"cluster": "source", "user": "peer"}}],
        "current-context": "peer",
    });
    let kubeconfig: Kubeconfig = serde_json::from_value(text)?;
    Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
}

/// Reads the parts of a pod that a handler of this kind reads. Returns the length of the key.
pub fn touch(handler: &str, pod: &Pod) -> usize {
    let metadata = &pod.metadata;
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let name = metadata.name.as_deref().unwrap_or_default();
    let key = format!("{namespace}/{name}");
    match handler {
        "metadata" => {
            black_box(metadata.labels.as_ref().and_then(|labels| labels.get("app")));
            black_box(metadata.resource_version.as_deref());
        }
        "fields" => {
            black_box(metadata.labels.as_ref().map(|labels| labels.len()));
            let owners = metadata.owner_references.as_deref().unwrap_or_default();
            black_box(owners.iter().find(|owner| owner.controller == Some(true)).map(|owner| owner.uid.len()));
            black_box(pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()));
            let status = pod.status.as_ref();
            black_box(status.and_then(|status| status.phase.as_deref()));
            black_box(status.and_then(|status| status.pod_ip.as_deref()));
        }
        "object" => {
            let spec = pod.spec.as_ref();
            black_box(spec.and_then(|spec| spec.node_name.as_deref()));
            black_box(spec.map(|spec| spec.containers.len()));
            black_box(pod.status.as_ref().and_then(|status| status.phase.as_deref()));
        }
        _ => {}
    }
    black_box(key).len()
}
