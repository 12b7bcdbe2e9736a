//! The driver of the matrix, on rmcp: it tries what conversations.mjs does, and writes the same lines.
#![allow(deprecated)]

use std::{
    future::Future,
    sync::{Arc, Mutex},
};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient,
    model::*,
    service::{NotificationContext, Peer, PeerRequestOptions, RequestContext, RunningService},
    transport::{
        StreamableHttpClientTransport, TokioChildProcess, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{Duration, sleep, timeout},
};

type Failure = Box<dyn std::error::Error>;

#[derive(Clone)]
struct Handler {
    progress: Arc<Mutex<Vec<f64>>>,
    updated: mpsc::UnboundedSender<String>,
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the driver is well-formed")
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = from(json!({ "elicitation": {}, "sampling": {} }));
        ClientConfig::new(capabilities, Implementation::new("rmcp", "1.0.0"))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let content = json!({ "type": "text", "text": "forty-two" });
        Ok(from(json!({ "role": "assistant", "model": "scripted", "stopReason": "endTurn", "content": content })))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(from(json!({ "action": "accept", "content": { "colour": "blue" } })))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(params.progress);
    }

    async fn on_resource_updated(&self, params: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.updated.send(params.uri);
    }
}

fn must(condition: bool, message: impl Into<String>) -> Result<(), Failure> {
    if condition { Ok(()) } else { Err(message.into().into()) }
}

async fn attempt<T>(feature: &str, run: impl Future<Output = Result<T, Failure>>) -> Option<T> {
    let outcome = match timeout(Duration::from_secs(8), run).await {
        Ok(outcome) => outcome,
        Err(_) => Err("no end within 8 s".into()),
    };
    match outcome {
        Ok(value) => {
            println!("{}", json!({ "feature": feature, "ok": true }));
            Some(value)
        }
        Err(error) => {
            println!("{}", json!({ "feature": feature, "ok": false, "error": error.to_string() }));
            None
        }
    }
}

type Service = RunningService<RoleClient, Handler>;

async fn connect(setup: &Value, handler: Handler) -> Result<Service, Failure> {
    let mode = if setup["revisionKind"] == "modern" {
        ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None }
    } else {
        ClientLifecycleMode::Initialize
    };
    let place = &setup["where"];
    let service = if let Some(url) = place["url"].as_str() {
        let config = StreamableHttpClientTransportConfig::with_uri(url.to_string());
        handler.serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), mode).await?
    } else {
        let mut command = tokio::process::Command::new(place["command"].as_str().unwrap_or_default());
        command.args(from::<Vec<String>>(place["args"].clone()));
        handler.serve_with_lifecycle(TokioChildProcess::new(command)?, mode).await?
    };
    let name = serde_json::to_value(service.peer_info().map(|info| info.server_info.clone()))?;
    must(name["name"] == "interop", format!("the server calls itself {name}"))?;
    Ok(service)
}

async fn call(service: &Service, name: &str, arguments: Value) -> Result<Value, Failure> {
    let params: CallToolRequestParams = from(json!({ "name": name, "arguments": arguments }));
    Ok(serde_json::to_value(service.call_tool(params).await?)?)
}

async fn expect(service: &Service, name: &str, wanted: &str) -> Result<(), Failure> {
    let result = call(service, name, json!({})).await?;
    must(result["content"].to_string().contains(wanted), format!("{name} gave {result}"))
}

async fn tools(service: &Service) -> Result<(), Failure> {
    let listed = service.list_all_tools().await?;
    must(listed.iter().any(|tool| tool.name == "add"), "tools/list has no add")?;
    let result = call(service, "add", json!({ "a": 2, "b": 40 })).await?;
    must(result["structuredContent"]["sum"].as_f64() == Some(42.0), format!("add gave {result}"))?;
    let failed = call(service, "fail", json!({})).await?;
    must(failed["isError"] == true, format!("a failing tool gave {failed}"))
}

async fn prompts(service: &Service) -> Result<(), Failure> {
    let listed = service.list_all_prompts().await?;
    must(listed.iter().any(|prompt| prompt.name == "greet"), "prompts/list has no greet")?;
    let got = service.get_prompt(from(json!({ "name": "greet", "arguments": { "name": "Ada" } }))).await?;
    must(serde_json::to_string(&got)?.contains("Ada"), "prompts/get lost the argument")
}

async fn resources(service: &Service) -> Result<(), Failure> {
    let listed = serde_json::to_string(&service.list_all_resources().await?)?;
    must(listed.contains("memo://a"), format!("resources/list gave {listed}"))?;
    let templates = serde_json::to_string(&service.list_all_resource_templates().await?)?;
    must(templates.contains("memo://{id}"), format!("resources/templates/list gave {templates}"))?;
    for id in ["a", "b"] {
        let read = service.read_resource(from(json!({ "uri": format!("memo://{id}") }))).await?;
        let read = serde_json::to_string(&read)?;
        must(read.contains(&format!("memo {id}")), format!("resources/read gave {read}"))?;
    }
    Ok(())
}

async fn completion(service: &Service) -> Result<(), Failure> {
    let values = service.complete_prompt_simple("greet", "name", "A").await?;
    must(values.contains(&"Ada".to_string()), format!("completion/complete gave {values:?}"))
}

async fn progress(service: &Service, seen: &Mutex<Vec<f64>>) -> Result<(), Failure> {
    seen.lock().unwrap().clear();
    call(service, "slow", json!({})).await?;
    let before = seen.lock().unwrap().clone();
    must(before == [1.0, 2.0, 3.0], format!("heard of progress {before:?} before the result"))
}

async fn cancel(service: &Service) -> Result<(), Failure> {
    let params: CallToolRequestParams = from(json!({ "name": "wait", "arguments": {} }));
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let peer: &Peer<RoleClient> = service.peer();
    let handle = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
    sleep(Duration::from_secs(1)).await;
    handle.cancel(Some("The test has seen enough.".into())).await?;
    for _ in 0..30 {
        let result = call(service, "cancelled", json!({})).await?;
        if result["content"][0]["text"] != "0" {
            return Ok(());
        }
        sleep(Duration::from_millis(100)).await;
    }
    Err("the handler never heard that it was cancelled".into())
}

async fn subscriptions(service: &Service, revision_kind: &str, updated: &mut mpsc::UnboundedReceiver<String>) -> Result<(), Failure> {
    if revision_kind == "legacy" {
        service.subscribe(from(json!({ "uri": "memo://a" }))).await?;
        call(service, "change", json!({})).await?;
        let uri = updated.recv().await.ok_or("the connection is gone")?;
        must(uri == "memo://a", format!("heard of {uri}"))?;
        service.unsubscribe(from(json!({ "uri": "memo://a" }))).await?;
        return Ok(());
    }
    let filter: SubscriptionFilter = from(json!({ "resourceSubscriptions": ["memo://a"] }));
    let mut subscription = service.listen(filter).await?;
    call(service, "change", json!({})).await?;
    let heard = serde_json::to_string(&subscription.next().await?)?;
    must(heard.contains("memo://a"), format!("heard {heard}"))?;
    subscription.cancel().await?;
    Ok(())
}

#[tokio::main]
async fn main() {
    let setup: Value = serde_json::from_str(&std::env::args().next_back().unwrap_or_default()).expect("a setup");
    let (sender, mut updated) = mpsc::unbounded_channel();
    let handler = Handler { progress: Arc::default(), updated: sender };
    let seen = handler.progress.clone();
    let Some(service) = attempt("lifecycle", connect(&setup, handler)).await else { return };
    let skipped = |feature: &str| setup["skip"].as_array().is_some_and(|all| all.iter().any(|one| one == feature));
    attempt("tools", tools(&service)).await;
    attempt("prompts", prompts(&service)).await;
    attempt("resources", resources(&service)).await;
    attempt("completion", completion(&service)).await;
    attempt("progress", progress(&service, &seen)).await;
    attempt("cancel", cancel(&service)).await;
    attempt("elicitation", expect(&service, "ask", "blue")).await;
    attempt("sampling", expect(&service, "sample", "forty-two")).await;
    if !skipped("subscriptions") {
        let revision_kind = setup["revisionKind"].as_str().unwrap_or_default();
        attempt("subscriptions", subscriptions(&service, revision_kind, &mut updated)).await;
    }
    attempt("close", async { Ok(service.cancel().await.map(|_| ())?) }).await;
}
