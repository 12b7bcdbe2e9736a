// The fixture of the matrix, on the official Go SDK.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type sumIn struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type sumOut struct {
	Sum float64 `json:"sum"`
}

type none struct{}

var cancelled atomic.Int64

func text(value string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: value}}}
}

func report(ctx context.Context, req *mcp.CallToolRequest, progress float64) {
	if token := req.Params.GetProgressToken(); token != nil {
		params := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: progress, Total: 3}
		_ = req.Session.NotifyProgress(ctx, params)
	}
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "interop", Version: "1.0.0"}, &mcp.ServerOptions{
		CompletionHandler: complete,
		SubscribeHandler:  func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error {
			return nil
		},
	})
	addTools(server)
	server.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}}}, greet)
	server.AddResource(&mcp.Resource{Name: "a", URI: "memo://a", MIMEType: "text/plain"}, memo)
	server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "memo", URITemplate: "memo://{id}", MIMEType: "text/plain"}, memo)
	if len(os.Args) > 1 && os.Args[1] == "http" {
		serveHTTP(server)
		return
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func serveHTTP(server *mcp.Server) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	get := func(*http.Request) *mcp.Server { return server }
	sessions := mcp.NewStreamableHTTPHandler(get, nil)
	// Only a handler without sessions speaks the modern revision.
	modern := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})
	_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026" {
			modern.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	}))
}

func addTools(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in sumIn) (*mcp.CallToolResult, sumOut, error) {
		return nil, sumOut{Sum: in.A + in.B}, nil
	})
	plain := func(name string, run func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(ctx context.Context, req *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
			result, err := run(ctx, req)
			return result, nil, err
		})
	}
	plain("fail", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("It failed on purpose.")
	})
	plain("slow", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for step := 1; step <= 3; step++ {
			report(ctx, req, float64(step))
			time.Sleep(20 * time.Millisecond)
		}
		return text("done"), nil
	})
	plain("wait", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		report(ctx, req, 1)
		<-ctx.Done()
		cancelled.Add(1)
		return nil, ctx.Err()
	})
	plain("cancelled", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(fmt.Sprint(cancelled.Load())), nil
	})
	plain("ask", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer, ok := req.Params.InputResponses["colour"].(*mcp.ElicitResult); ok {
			return text(fmt.Sprintf("You said: %v", answer.Content["colour"])), nil
		}
		schema := map[string]any{
			"type":       "object",
			"properties": map[string]any{"colour": map[string]any{"type": "string"}},
			"required":   []string{"colour"},
		}
		question := &mcp.ElicitParams{Mode: "form", Message: "Which colour?", RequestedSchema: schema}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"colour": question}}, nil
	})
	plain("sample", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer, ok := req.Params.InputResponses["model"]; ok {
			return text("The model said: " + said(answer)), nil
		}
		messages := []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "What is six times seven?"}}}
		question := &mcp.CreateMessageParams{Messages: messages, MaxTokens: 10}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"model": question}}, nil
	})
	plain("change", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "memo://a"})
		return text("changed"), err
	})
}

func said(answer any) string {
	switch result := answer.(type) {
	case *mcp.CreateMessageResult:
		return textOf(result.Content)
	case *mcp.CreateMessageWithToolsResult:
		return textOf(result.Content...)
	}
	return fmt.Sprintf("%T", answer)
}

func textOf(contents ...mcp.Content) string {
	var all strings.Builder
	for _, content := range contents {
		if part, ok := content.(*mcp.TextContent); ok {
			all.WriteString(part.Text)
		}
	}
	return all.String()
}

func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var values []string
	for _, name := range []string{"Ada", "Alan", "Grace"} {
		if strings.HasPrefix(name, req.Params.Argument.Value) {
			values = append(values, name)
		}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values}}, nil
}

func greet(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	content := &mcp.TextContent{Text: "Hello " + req.Params.Arguments["name"] + "!"}
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: content}}}, nil
}

func memo(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	contents := &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "memo " + strings.TrimPrefix(uri, "memo://")}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
}
