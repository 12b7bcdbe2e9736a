//! The fixture of the matrix, on rmcp.
#![allow(deprecated)]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, SubscriptionContext},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tokio::{
    sync::broadcast,
    time::{Duration, sleep},
};

type Ctx = RequestContext<RoleServer>;

#[derive(Clone)]
struct Fixture {
    cancelled: Arc<AtomicUsize>,
    changes: broadcast::Sender<()>,
}

/// What a wire object says, as the type that stands for it here.
fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the fixture is well-formed")
}

fn text(value: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(value.into())]).into()
}

fn is_modern(context: &Ctx) -> bool {
    serde_json::to_string(&context.meta).is_ok_and(|meta| meta.contains("io.modelcontextprotocol/protocolVersion"))
}

fn form() -> Value {
    json!({
        "mode": "form",
        "message": "Which colour?",
        "requestedSchema": { "type": "object", "properties": { "colour": { "type": "string" } }, "required": ["colour"] }
    })
}

fn question() -> Value {
    json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": "What is six times seven?" } }],
        "maxTokens": 10
    })
}

impl Fixture {
    async fn report(&self, context: &Ctx, progress: f64) {
        if let Some(token) = context.meta.get_progress_token() {
            let params = ProgressNotificationParam::new(token, progress).with_total(3.0);
            let _ = context.peer.notify_progress(params).await;
        }
    }

    /// Modern clients are asked by the result of the call, legacy ones by a request within it.
    async fn ask(&self, request: &CallToolRequestParams, context: &Ctx) -> Result<CallToolResponse, ErrorData> {
        let answer = if !is_modern(context) {
            let answer = context.peer.create_elicitation(from(form())).await.map_err(internal)?;
            serde_json::to_value(answer).map_err(internal)?
        } else if let Some(answer) = request.input_responses.as_ref().and_then(|all| all.get("colour")) {
            serde_json::to_value(answer).map_err(internal)?
        } else {
            return Ok(ask_for("colour", "elicitation/create", form()));
        };
        Ok(text(format!("You said: {}", answer["content"]["colour"])))
    }

    async fn sample(&self, request: &CallToolRequestParams, context: &Ctx) -> Result<CallToolResponse, ErrorData> {
        let answer = if !is_modern(context) {
            let answer = context.peer.create_message(from(question())).await.map_err(internal)?;
            serde_json::to_value(answer).map_err(internal)?
        } else if let Some(answer) = request.input_responses.as_ref().and_then(|all| all.get("model")) {
            serde_json::to_value(answer).map_err(internal)?
        } else {
            return Ok(ask_for("model", "sampling/createMessage", question()));
        };
        Ok(text(format!("The model said: {}", answer["content"])))
    }
}

fn ask_for(key: &str, method: &str, params: Value) -> CallToolResponse {
    let requests = json!({ key: { "method": method, "params": params } });
    InputRequiredResult::new(Some(from(requests)), None).into()
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = from(json!({
            "tools": {}, "prompts": {}, "resources": { "subscribe": true }, "completions": {}
        }));
        ServerConfig::new(capabilities).with_server_info(Implementation::new("interop", "1.0.0"))
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Ctx) -> Result<ListToolsResult, ErrorData> {
        let number = json!({ "type": "number" });
        let mut tools = vec![json!({
            "name": "add",
            "inputSchema": { "type": "object", "properties": { "a": number, "b": number }, "required": ["a", "b"] },
            "outputSchema": { "type": "object", "properties": { "sum": number }, "required": ["sum"] }
        })];
        for name in ["fail", "slow", "wait", "cancelled", "ask", "sample", "change"] {
            tools.push(json!({ "name": name, "inputSchema": { "type": "object" } }));
        }
        Ok(ListToolsResult::with_all_items(from(json!(tools))))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Ctx) -> Result<CallToolResponse, ErrorData> {
        match request.name.as_ref() {
            "add" => {
                let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
                let sum = arguments["a"].as_f64().unwrap_or(0.0) + arguments["b"].as_f64().unwrap_or(0.0);
                Ok(CallToolResult::structured(json!({ "sum": sum })).into())
            }
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("It failed on purpose.")]).into()),
            "slow" => {
                for step in 1..=3 {
                    self.report(&context, step as f64).await;
                    sleep(Duration::from_millis(20)).await;
                }
                Ok(text("done"))
            }
            "wait" => {
                self.report(&context, 1.0).await;
                context.ct.cancelled().await;
                self.cancelled.fetch_add(1, Ordering::Relaxed);
                Ok(text("cancelled"))
            }
            "cancelled" => Ok(text(self.cancelled.load(Ordering::Relaxed).to_string())),
            "ask" => self.ask(&request, &context).await,
            "sample" => self.sample(&request, &context).await,
            "change" => {
                let _ = self.changes.send(());
                Ok(text("changed"))
            }
            other => Err(ErrorData::invalid_params(format!("There is no tool {other}."), None)),
        }
    }

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: Ctx) -> Result<ListPromptsResult, ErrorData> {
        let greet = json!([{ "name": "greet", "arguments": [{ "name": "name", "required": true }] }]);
        Ok(ListPromptsResult::with_all_items(from(greet)))
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, _: Ctx) -> Result<GetPromptResponse, ErrorData> {
        let arguments = serde_json::to_value(&request.arguments).map_err(internal)?;
        let greeting = format!("Hello {}!", arguments["name"].as_str().unwrap_or("nobody"));
        let message = json!({ "role": "user", "content": { "type": "text", "text": greeting } });
        Ok(GetPromptResult::new(vec![from(message)]).into())
    }

    async fn complete(&self, request: CompleteRequestParams, _: Ctx) -> Result<CompleteResult, ErrorData> {
        let names = ["Ada", "Alan", "Grace"].into_iter();
        let values: Vec<_> = names.filter(|name| name.starts_with(&request.argument.value)).collect();
        Ok(from(json!({ "completion": { "values": values } })))
    }

    async fn list_resources(&self, _: Option<PaginatedRequestParams>, _: Ctx) -> Result<ListResourcesResult, ErrorData> {
        let memo = json!([{ "uri": "memo://a", "name": "a", "mimeType": "text/plain" }]);
        Ok(ListResourcesResult::with_all_items(from(memo)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Ctx,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let memo = json!([{ "uriTemplate": "memo://{id}", "name": "memo", "mimeType": "text/plain" }]);
        Ok(ListResourceTemplatesResult::with_all_items(from(memo)))
    }

    async fn read_resource(&self, request: ReadResourceRequestParams, _: Ctx) -> Result<ReadResourceResponse, ErrorData> {
        let memo = request.uri.replace("memo://", "memo ");
        let contents = json!([{ "uri": request.uri, "mimeType": "text/plain", "text": memo }]);
        Ok(ReadResourceResult::new(from(contents)).into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Ctx) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        tokio::spawn(async move {
            while changes.recv().await.is_ok() {
                let params = ResourceUpdatedNotificationParam::new(request.uri.clone());
                if context.peer.notify_resource_updated(params).await.is_err() {
                    return;
                }
            }
        });
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Ctx) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            tokio::select! {
                _ = context.cancelled() => return Ok(()),
                _ = changes.recv() => {
                    let _ = context.sink().notify_resource_updated("memo://a").await;
                }
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fixture = Fixture { cancelled: Arc::default(), changes: broadcast::channel(16).0 };
    if std::env::args().nth(1).as_deref() != Some("http") {
        fixture.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let service: StreamableHttpService<Fixture, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(fixture.clone()),
        Default::default(),
        StreamableHttpServerConfig::default().with_legacy_session_mode(true),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
