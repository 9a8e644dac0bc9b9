package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/transport/oas/agentsoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/pathwaysoas"
)

// walk lists what a caller says or presses on a pathway with every type of node, each with the end of the agent's answer. The first answer
// is the greeting.
var walk = []struct{ caller, keys, answer string }{
	{"", "", "Hello, this is North Bicycles. Which day suits you, Tuesday or Thursday?"},
	{"Tuesday.", "", "One moment, please. In the morning or in the afternoon?"},
	{"What does it cost?", "", "An inspection is thirty dollars. In the morning or in the afternoon?"},
	{"In the afternoon.", "", "Please take your calendar, and say ready."},
	{"When are you open?", "", "We are open from eight to six, Monday to Friday. Please take your calendar, and say ready."},
	{"Ready.", "", "How many bicycles do you bring?"},
	{"", "2", "You come on Tuesday in the afternoon. Is there anything else?"},
	{"That is all.", "", "Thank you for calling. Goodbye."},
}

// slots starts a server that the pathway asks for free slots. It returns the base URL, and a function that returns the number of requests.
func slots(t *testing.T) (base string, asked func() int) {
	t.Helper()
	requests := make(chan struct{}, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Day string `json:"day"`
		}
		err := json.NewDecoder(r.Body).Decode(&body)
		if err != nil || body.Day != "Tuesday" || r.URL.Path != "/slots" || r.Header.Get("X-Shop") != "north" {
			t.Errorf("%s %s asks for %q, %v", r.Method, r.URL, body.Day, err)
		}
		requests <- struct{}{}
		_, _ = w.Write([]byte(`{"free": 1}`))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() int { return len(requests) }
}

// decision is the node that a conversation chose next, and the reason.
type decision struct{ chosen, why string }

// TestPathwayEverywhere uses a pathway with every type of node in a test, a chat and a telephone call, with the same words of the caller.
// It checks that all decisions are the same.
func TestPathwayEverywhere(t *testing.T) {
	t.Parallel()
	base, asked := slots(t)
	document := agentstest.EveryNode(base)
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	id := s.Publish(t, document)

	wanted := inTest(t, document)
	chat := s.Chat(t, id)
	inChat := decisions(chat.PathwayLogs)
	for _, turn := range walk[1:] {
		state := s.Say(t, chat.ChatID, strings.TrimSpace(turn.caller+" "+turn.keys))
		if said := strings.Join(state.AssistantResponses, " "); !strings.HasSuffix(said, turn.answer) {
			t.Fatalf("in the chat %q is answered with %q", turn.caller, said)
		}
		inChat = append(inChat, decisions(state.PathwayLogs)...)
	}

	request := callsoas.CallCreate{
		PhoneNumber: theirs.String(), From: callsoas.NewOptString(ours.String()), PathwayID: callsoas.NewOptString(id),
		Voice: callsoas.NewOptString(agentVoice), Record: callsoas.NewOptBool(true), MaxDuration: callsoas.NewOptFloat64(2),
	}
	var told <-chan []byte
	request.Webhook.Set = true
	request.Webhook.Value, told = hook(t, s)
	request.WebhookEvents = []callsoas.CallEventCategory{callsoas.CallEventCategoryCall, callsoas.CallEventCategoryWebhook, callsoas.CallEventCategoryLatency}
	call := s.Call(t, request)
	phone.Await(t, "CALL_ESTABLISHED", 1)
	for _, turn := range walk {
		if turn.keys != "" {
			phone.Press(t, turn.keys)
		} else if turn.caller != "" {
			phone.Say(t, speak(t, callerVoice, turn.caller))
		}
		if turn.answer != walk[len(walk)-1].answer {
			says(t, s, call, turn.answer)
		}
	}
	record := s.Ended(t, call)

	onCall := decisions(record.PathwayLogs)
	if len(wanted) < 8 || !slices.Equal(onCall, wanted) || !slices.Equal(inChat, wanted) {
		t.Errorf("decisions\nin the test %v\nin the chat %v\non the call %v", wanted, inChat, onCall)
	}
	if phone.Digits() != "12#" {
		t.Errorf("the phone got the digits %q", phone.Digits())
	}
	if n := asked(); n != 3 {
		t.Errorf("the system was asked %d times", n)
	}
	checkPathwayRecord(t, record, id)
	checkTold(t, told, call)
	checkSaid(t, phone.Heard(t), agentVoice, "In the morning or in the afternoon?", "We are open from eight to six, Monday to Friday.")
}

// inTest runs the walk as a test without a server, and returns its decisions.
func inTest(t *testing.T, d graph.Document) (all []decision) {
	t.Helper()
	graph, err := graph.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	requests, err := webhook.New(webhook.Config{Tenants: orgstore.Tenants{Store: memstore.New()}, AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(requests.Close)
	runtime := &pathway.Interpreter{Model: scripted.New(), Requests: requests}
	state := pathway.Begin(nil, "")
	for i, turn := range walk {
		in := conversation.Turn{Kind: conversation.TurnSpeech, Text: turn.caller}
		switch {
		case i == 0:
			in.Kind = conversation.TurnStart
		case turn.keys != "":
			in = conversation.Turn{Kind: conversation.TurnDigits, Text: turn.keys}
		}
		var log pathway.Log
		state, log, err = runtime.Step(t.Context(), graph, pathway.Agent{}, state, in, func(conversation.Step) bool { return true })
		if err != nil || !strings.HasSuffix(log.Said, turn.answer) {
			t.Fatalf("in the test %q is answered with %q, %v", turn.caller, log.Said, err)
		}
		for _, e := range log.Entries {
			if e.Kind == pathway.LogDecision {
				all = append(all, decision{e.Chosen, e.Text})
			}
		}
	}
	if !state.Over {
		t.Error("in the test it does not end")
	}
	return all
}

// decisions returns the decisions in the log of a call or a chat.
func decisions[L callsoas.CallPathwayLog | pathwaysoas.CallPathwayLog](logs []L) (all []decision) {
	for _, l := range logs {
		log, ok := any(l).(callsoas.CallPathwayLog)
		if chat, ofChat := any(l).(pathwaysoas.CallPathwayLog); ofChat {
			log.Decision, log.ChosenNodeID, ok = callsoas.NilString(chat.Decision), callsoas.NilString(chat.ChosenNodeID), true
		}
		if ok && log.Decision.Value != "" {
			all = append(all, decision{log.ChosenNodeID.Value, log.Decision.Value})
		}
	}
	return all
}

// checkPathwayRecord checks the record of the call except its decisions.
func checkPathwayRecord(t *testing.T, r *callsoas.CallRecord, id string) {
	t.Helper()
	if r.PathwayID.Value != id || r.PathwayVersion.Value != 1 || r.CallEndedBy.Value != callsoas.CallRecordCallEndedByASSISTANT {
		t.Errorf("pathway %s version %d, ended by %s", r.PathwayID.Value, r.PathwayVersion.Value, r.CallEndedBy.Value)
	}
	for name, want := range map[string]string{"day": `"Tuesday"`, "time": `"afternoon"`, "bicycles": "2", "free": "1"} {
		if got := string(r.Variables[name]); got != want {
			t.Errorf("the variable %s is %s", name, got)
		}
	}
	tags := map[string]bool{}
	for _, l := range r.PathwayLogs {
		tags[l.Tag.Value] = true
	}
	if !tags["booked"] || !tags["asked for a day"] {
		t.Errorf("tags %v", tags)
	}
	measured := 0
	for i, l := range r.Transcripts {
		if l.End.Value < l.Start.Value || i > 0 && l.Start.Value < r.Transcripts[i-1].Start.Value {
			t.Errorf("the line %q is from %v to %v", l.Text, l.Start.Value, l.End.Value)
		}
		if l.User == callsoas.TranscriptLineUserAssistant && l.Latency.Value.PlayingMs.Value > 0 {
			measured++
		}
	}
	if measured < len(walk)-1 {
		t.Errorf("%d answers have their latency", measured)
	}
}

// checkTold checks that the webhook received events of each requested category, and the record.
func checkTold(t *testing.T, told <-chan []byte, call string) {
	t.Helper()
	got := map[string]int{}
	for got["record"] == 0 || got["call"] < 2 || got["webhook"] == 0 || got["latency"] < len(walk)-1 {
		select {
		case body := <-told:
			var event struct {
				CallID   string `json:"call_id"`
				Category string `json:"category"`
				Message  string `json:"message"`
				Level    string `json:"log_level"`
				Queue    string `json:"queue_status"`
			}
			if err := json.Unmarshal(body, &event); err != nil || event.CallID != call {
				t.Fatalf("the webhook was told %s, %v", body, err)
			}
			switch {
			case event.Queue != "":
				got["record"]++
			case event.Message == "" || event.Level == "":
				t.Errorf("the webhook was told %s", body)
			default:
				got[event.Category]++
			}
		case <-t.Context().Done():
			t.Fatalf("the webhook was told %v", got)
		}
	}
	if got["record"] != 1 || len(got) != 4 {
		t.Errorf("the webhook was told %v", got)
	}
}

// TestPathwayTransfers has a caller ask for a person. The transfer must end a chat. A call must continue if the target is unreachable.
func TestPathwayTransfers(t *testing.T) {
	t.Parallel()
	base, _ := slots(t)
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachInbound(t, ours.String())
	id := s.Publish(t, agentstest.EveryNode(base))
	if state := s.Say(t, s.Chat(t, id).ChatID, "I want to talk to a person."); !state.Completed || strings.Join(state.AssistantResponses, " ") != "I am connecting you." {
		t.Errorf("the chat goes on: %+v", state)
	}

	report, err := s.API.UpdateInboundNumber(t.Context(), &agentsoas.InboundNumberUpdate{
		PathwayID: agentsoas.NewOptNilString(id), Voice: agentsoas.NewOptNilString(agentVoice),
	}, agentsoas.UpdateInboundNumberParams{PhoneNumber: ours.String()})
	if err != nil || len(report.FailedUpdates) > 0 {
		t.Fatalf("the number's pathway: %v, %v", report, err)
	}
	phone.Dial(t, s.Number(ours.String()))
	phone.Await(t, "CALL_ESTABLISHED", 1)
	call := s.Calls(t)[0].CallID
	says(t, s, call, walk[0].answer)
	phone.Say(t, speak(t, callerVoice, "A person please."))
	phone.AwaitReceived(t, "REFER ")
	says(t, s, call, "Is there anything else that I can do for you? Which day suits you, Tuesday or Thursday?")
	phone.Hangup(t)
	record := s.Ended(t, call)
	if did := lines(record, callsoas.TranscriptLineUserAgentAction); len(did) != 1 || !strings.HasSuffix(did[0], "which failed: the transfer was answered with status 500") {
		t.Errorf("the agent did %q", did)
	}
	if got := decisions(record.PathwayLogs); len(got) < 2 || got[len(got)-1].chosen != "day" {
		t.Errorf("decisions %v", got)
	}
}
