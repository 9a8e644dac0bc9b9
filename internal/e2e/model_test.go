package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/transport/oas/agentsoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// service is a language model with the API of OpenAI. When the caller has pressed a key, it looks up an order, repeats the result, and
// hangs up. After the call it returns a summary.
type service struct{ t *testing.T }

// asked is the part of a request that the model reads.
type asked struct {
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	Stream bool `json:"stream"`
}

func (s service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var a asked
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil || len(a.Messages) == 0 || r.URL.Path != "/v1/chat/completions" {
		s.t.Errorf("the model was asked %s, %v", r.URL, err)
		return
	}
	last := a.Messages[len(a.Messages)-1]
	switch {
	case !a.Stream:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant",`+
			`"content":"{\"summary\":\"Robin asked for order 7.\",\"disposition\":\"informed\"}"}}]}`)
	case last.Role == "tool":
		if !strings.Contains(a.Messages[0].Content, "Be kind.") || !strings.Contains(last.Content, "on its way") {
			s.t.Errorf("the model was told %+v", a.Messages)
		}
		stream(w, `{"role":"assistant","content":"Your order "}`, `{"content":"is on its way. Goodbye."}`,
			`{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"end_call","arguments":"{}"}}]}`)
	case strings.Contains(last.Content, "pressed 7") && len(a.Tools) == 2:
		stream(w, `{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"track","arguments":"{\"order\":"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"7}"}}]}`)
	default:
		s.t.Errorf("the model was asked %+v", a)
	}
}

// stream sends the deltas of an answer as server-sent events.
func stream(w http.ResponseWriter, deltas ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range deltas {
		_, _ = fmt.Fprintf(w, "data: {\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", d)
	}
	_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// TestWebAgentWithAModel places a call of a web agent with a tool and dynamic data. The model must call the tool, end the call and
// summarize it.
func TestWebAgentWithAModel(t *testing.T) {
	t.Parallel()
	model := httptest.NewServer(service{t})
	t.Cleanup(model.Close)
	shop := http.NewServeMux()
	shop.HandleFunc("GET /customers/{number}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("number") != "c 1" || r.Header.Get("Authorization") != "Bearer customers-key" {
			t.Errorf("the customer %q is asked for with the key %q", r.PathValue("number"), r.Header.Get("Authorization"))
		}
		_, _ = w.Write([]byte(`{"person":{"name":"Robin"}}`))
	})
	shop.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Order string `json:"order"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Order != "7" {
			t.Errorf("the order %q is asked for, %v", body.Order, err)
		}
		_, _ = w.Write([]byte(`{"status":"on its way"}`))
	})
	systems := httptest.NewServer(shop)
	t.Cleanup(systems.Close)

	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), "--llm-base-url", model.URL+"/v1", "--llm-model", "m")
	s.AttachOutbound(t, ours.String(), phone.Server())
	agent, err := s.API.CreateAgent(t.Context(), &agentsoas.WebAgentCreate{
		Prompt: agentsoas.NewOptString("Be kind."), Voice: agentsoas.NewOptString(agentVoice),
		FirstSentence: agentsoas.NewOptString("Hello {{name}}. Which order is it?"),
		Tools: agentsoas.NewOptNilAgentTools(agentsoas.AgentTools{agentsoas.AgentTool(`{"name":"track","description":"Says where an order is.",
			"url":"` + systems.URL + `/orders","method":"POST","body":{"order":"{{input.order}}"},"speech":"One moment.",
			"input_schema":{"type":"object","properties":{"order":{"type":"integer"}},"required":["order"]},
			"response":{"order_status":"$.status"}}`)}),
		DynamicData: agentsoas.NewOptNilDynamicDataList(agentsoas.DynamicDataList{{
			URL: systems.URL + "/customers/{{customer}}", Headers: []agentsoas.KeyValue{{Key: "Authorization", Value: "Bearer customers-key"}},
			ResponseData: []agentsoas.DynamicDataField{{Name: "name", Data: agentsoas.NewOptString("$.person.name")}},
		}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	request := callsoas.CallCreate{
		PhoneNumber: theirs.String(), From: callsoas.NewOptString(ours.String()), AgentID: callsoas.NewOptString(agent.Agent.AgentID),
		RequestData:   callsoas.NewOptRequestData(callsoas.RequestData{"customer": jx.Raw(`"c 1"`)}),
		SummaryPrompt: callsoas.NewOptString("Name the order."), Dispositions: []string{"lost", "informed"},
	}
	var told <-chan []byte
	request.Webhook.Set = true
	request.Webhook.Value, told = hook(t, s)
	id := s.Call(t, request)
	says(t, s, id, "Which order is it?")
	phone.Press(t, "7")
	record := s.Ended(t, id)

	if said := lines(record, callsoas.TranscriptLineUserAssistant); strings.Join(said, " ") !=
		"Hello Robin. Which order is it? One moment. Your order is on its way. Goodbye." {
		t.Errorf("the agent said %q", said)
	}
	if record.CallEndedBy.Value != callsoas.CallRecordCallEndedByASSISTANT || record.Model.Value != "m" ||
		string(record.Variables["order_status"]) != `"on its way"` || string(record.Variables["name"]) != `"Robin"` {
		t.Errorf("ended by %s, model %s, variables %s", record.CallEndedBy.Value, record.Model.Value, record.Variables)
	}
	var post callsoas.CallRecord
	if err := json.Unmarshal(<-told, &post); err != nil || post.Summary.Value != "Robin asked for order 7." ||
		post.DispositionTag.Value != "informed" || !post.AnalysisError.Null {
		t.Errorf("the webhook was told %q, %q, %q, %v", post.Summary.Value, post.DispositionTag.Value, post.AnalysisError.Value, err)
	}
	if text, err := json.Marshal(post.PathwayLogs); err != nil || strings.Contains(string(text), "customers-key") ||
		strings.Contains(s.Log(), "customers-key") {
		t.Errorf("the key is in the record or in the log, %v", err)
	}
}
