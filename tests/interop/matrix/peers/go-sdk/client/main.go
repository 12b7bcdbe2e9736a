// The driver of the matrix, on the official Go SDK: it tries what conversations.mjs does, and writes the same lines.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const limit = 8 * time.Second

type setup struct {
	Where struct {
		URL     string   `json:"url"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	} `json:"where"`
	RevisionKind string   `json:"revisionKind"`
	Skip         []string `json:"skip"`
}

type driver struct {
	session  *mcp.ClientSession
	lock     sync.Mutex
	progress []float64
	updated  chan string
}

func main() {
	var given setup
	if err := json.Unmarshal([]byte(os.Args[len(os.Args)-1]), &given); err != nil {
		panic(err)
	}
	d := &driver{updated: make(chan string, 10)}
	attempt("lifecycle", func(ctx context.Context) error { return d.connect(context.Background(), given) })
	if d.session == nil {
		return
	}
	for _, feature := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"tools", d.tools},
		{"prompts", d.prompts},
		{"resources", d.resources},
		{"completion", d.completion},
		{"progress", d.hearProgress},
		{"cancel", d.cancel},
		{"elicitation", func(ctx context.Context) error { return d.expect(ctx, "ask", "blue") }},
		{"sampling", func(ctx context.Context) error { return d.expect(ctx, "sample", "forty-two") }},
		{"subscriptions", d.subscriptions},
	} {
		if !slices.Contains(given.Skip, feature.name) {
			attempt(feature.name, feature.run)
		}
	}
	attempt("close", func(context.Context) error { return d.session.Close() })
}

func attempt(feature string, run func(context.Context) error) {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	line := map[string]any{"feature": feature, "ok": true}
	if err := run(ctx); err != nil {
		line["ok"] = false
		line["error"] = err.Error()
	}
	encoded, _ := json.Marshal(line)
	fmt.Println(string(encoded))
}

func (d *driver) connect(ctx context.Context, given setup) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"colour": "blue"}}, nil
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "scripted", Content: &mcp.TextContent{Text: "forty-two"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			d.lock.Lock()
			defer d.lock.Unlock()
			d.progress = append(d.progress, req.Params.Progress)
		},
		ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) {
			d.updated <- req.Params.URI
		},
	})
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: given.Where.URL}
	if given.Where.URL == "" {
		transport = &mcp.CommandTransport{Command: exec.Command(given.Where.Command, given.Where.Args...)}
	}
	options := &mcp.ClientSessionOptions{}
	if given.RevisionKind == "legacy" {
		options.ProtocolVersion = "2025-11-25"
	}
	session, err := client.Connect(ctx, transport, options)
	if err != nil {
		return err
	}
	d.session = session
	if name := session.InitializeResult().ServerInfo.Name; name != "interop" {
		return fmt.Errorf("the server calls itself %q", name)
	}
	return nil
}

func (d *driver) call(ctx context.Context, name string, arguments any) (*mcp.CallToolResult, string, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: arguments}
	params.SetProgressToken(name)
	result, err := d.session.CallTool(ctx, params)
	if err != nil {
		return nil, "", err
	}
	var all strings.Builder
	for _, content := range result.Content {
		if part, ok := content.(*mcp.TextContent); ok {
			all.WriteString(part.Text)
		}
	}
	return result, all.String(), nil
}

func (d *driver) expect(ctx context.Context, name, wanted string) error {
	_, text, err := d.call(ctx, name, map[string]any{})
	if err == nil && !strings.Contains(text, wanted) {
		err = fmt.Errorf("%s gave %q", name, text)
	}
	return err
}

func (d *driver) tools(ctx context.Context) error {
	listed, err := d.session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(listed.Tools, func(tool *mcp.Tool) bool { return tool.Name == "add" }) {
		return fmt.Errorf("tools/list has no add")
	}
	result, _, err := d.call(ctx, "add", map[string]any{"a": 2, "b": 40})
	if err != nil {
		return err
	}
	structured, _ := json.Marshal(result.StructuredContent)
	if string(structured) != `{"sum":42}` {
		return fmt.Errorf("add gave %s", structured)
	}
	failed, _, err := d.call(ctx, "fail", map[string]any{})
	if err == nil && !failed.IsError {
		err = fmt.Errorf("a failing tool did not fail")
	}
	return err
}

func (d *driver) prompts(ctx context.Context) error {
	listed, err := d.session.ListPrompts(ctx, nil)
	if err != nil {
		return err
	}
	if len(listed.Prompts) == 0 || listed.Prompts[0].Name != "greet" {
		return fmt.Errorf("prompts/list has no greet")
	}
	got, err := d.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"name": "Ada"}})
	if err != nil {
		return err
	}
	if text, ok := got.Messages[0].Content.(*mcp.TextContent); !ok || !strings.Contains(text.Text, "Ada") {
		return fmt.Errorf("prompts/get lost the argument")
	}
	return nil
}

func (d *driver) resources(ctx context.Context) error {
	listed, err := d.session.ListResources(ctx, nil)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(listed.Resources, func(one *mcp.Resource) bool { return one.URI == "memo://a" }) {
		return fmt.Errorf("resources/list has no memo://a")
	}
	templates, err := d.session.ListResourceTemplates(ctx, nil)
	if err != nil {
		return err
	}
	if len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != "memo://{id}" {
		return fmt.Errorf("the template is not listed")
	}
	for _, id := range []string{"a", "b"} {
		read, err := d.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "memo://" + id})
		if err != nil {
			return err
		}
		if read.Contents[0].Text != "memo "+id {
			return fmt.Errorf("memo://%s holds %q", id, read.Contents[0].Text)
		}
	}
	return nil
}

func (d *driver) completion(ctx context.Context) error {
	completed, err := d.session.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"},
		Argument: mcp.CompleteParamsArgument{Name: "name", Value: "A"},
	})
	if err == nil && !slices.Contains(completed.Completion.Values, "Ada") {
		err = fmt.Errorf("completion/complete gave %v", completed.Completion.Values)
	}
	return err
}

func (d *driver) hearProgress(ctx context.Context) error {
	d.lock.Lock()
	d.progress = nil
	d.lock.Unlock()
	if _, _, err := d.call(ctx, "slow", map[string]any{}); err != nil {
		return err
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	if !slices.Equal(d.progress, []float64{1, 2, 3}) {
		return fmt.Errorf("heard of progress %v before the result", d.progress)
	}
	return nil
}

func (d *driver) cancel(ctx context.Context) error {
	inner, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if _, _, err := d.call(inner, "wait", map[string]any{}); err == nil {
		return fmt.Errorf("the call that was cancelled gave a result")
	}
	for range 30 {
		_, text, err := d.call(ctx, "cancelled", map[string]any{})
		if err != nil || text != "0" {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("the handler never heard that it was cancelled")
}

func (d *driver) subscriptions(ctx context.Context) error {
	if err := d.session.Subscribe(ctx, &mcp.SubscribeParams{URI: "memo://a"}); err != nil {
		return err
	}
	if _, _, err := d.call(ctx, "change", map[string]any{}); err != nil {
		return err
	}
	select {
	case uri := <-d.updated:
		if uri != "memo://a" {
			return fmt.Errorf("heard of %s", uri)
		}
	case <-ctx.Done():
		return fmt.Errorf("heard of no update")
	}
	return d.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: "memo://a"})
}
