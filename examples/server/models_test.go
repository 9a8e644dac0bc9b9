package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/fx/fxtest"

	"github.com/callwright/callwright/agents/llm"
)

// TestModels reads --llm-models, and has requests answered by the models that they name, each with its own key.
func TestModels(t *testing.T) {
	t.Parallel()
	var asked []string
	services := make([]*httptest.Server, 2)
	for i := range services {
		services[i] = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := make([]byte, 1<<10)
			n, _ := r.Body.Read(body)
			_, model, _ := strings.Cut(string(body[:n]), `"model":"`)
			model, _, _ = strings.Cut(model, `"`)
			asked = append(asked, services[i].URL+" "+model+" "+r.Header.Get("Authorization"))
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"{}"},"finish_reason":"stop"}]}`))
		}))
		t.Cleanup(services[i].Close)
	}
	here, there := services[0].URL, services[1].URL
	c, err := parse([]string{
		"--llm-base-url", here, "--llm-model", "small", "--llm-api-key", "k1", "--llm-models", "near=large@2,far=x/@y@" + there + ", secret=z@" + there,
		"--llm-api-keys", "secret=k2",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lc := fxtest.NewLifecycle(t)
	e, err := newEngines(lc, c)
	if err != nil {
		t.Fatal(err)
	}
	lc.RequireStart()
	defer lc.RequireStop()
	for _, tt := range []struct{ name, want string }{
		{"", here + " small Bearer k1"}, {"turbo", here + " small Bearer k1"}, {"near", here + " large@2 Bearer k1"},
		{"far", there + " x/@y "}, {"secret", there + " z Bearer k2"},
	} {
		asked = nil
		_, err := e.Model.Answer(context.Background(), llm.Question{Task: llm.TaskJudge, Model: tt.name})
		if err != nil || len(asked) != 1 || strings.TrimSpace(asked[0]) != strings.TrimSpace(tt.want) {
			t.Errorf("%q asks %q, %v; want %q", tt.name, asked, err, tt.want)
		}
	}
	for args, want := range map[string]string{
		"--llm-models strict":                    "must be name=model@base-url",
		"--llm-models =x@http://a":               "must be name=model@base-url",
		"--llm-models a=@http://a":               "must be name=model@base-url",
		"--llm-models a=x@http://a,a=y@http://a": "twice",
		"--llm-models a=x":                       "needs a base URL",
		"--llm-api-keys a=k":                     "which --llm-models does not name",
		"--llm-api-keys k":                       "must be name=key",
	} {
		if _, err := parse(strings.Fields(args), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
