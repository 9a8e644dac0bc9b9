package httpapi_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
)

// TestCreateCallWarns checks that the answer contains a warning only if the model cannot follow the task.
func TestCreateCallWarns(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	for task, want := range map[string]any{"Talk freely.": []any{"a free task is not followed"}, "Talk.": nil} {
		created := h.want(http.StatusOK, "POST", "/v1/calls", `{"phone_number": "`+theirNumber+`", "from": "`+ourNumber+`", "task": "`+task+`"}`)
		if got := created["warnings"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the warnings are %v, want %v", task, got, want)
		}
	}
}

func TestCreateCallQueuesWhatItIsAskedFor(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	created := h.want(http.StatusOK, "POST", "/v1/calls", `{
		"phone_number": "`+theirNumber+`", "from": "`+ourNumber+`", "task": "Ask for the time.", "voice": "slt",
		"first_sentence": "Hello.", "wait_for_greeting": true, "record": true, "max_duration": 1.5, "language": "en",
		"model": "base", "temperature": 0.25, "transfer_phone_number": "+14155550199",
		"request_data": {"name": "Robin", "tries": 3}, "metadata": {"ticket": "4711"},
		"webhook": "https://example.com/hook"}`)
	if created["status"] != "success" || created["message"] != "Call successfully queued." || created["batch_id"] != nil {
		t.Errorf("answer %v", created)
	}
	id, _ := created["call_id"].(string)
	stored, err := h.calls.Get(t.Context(), h.org, id)
	if err != nil {
		t.Fatal(err)
	}
	a := stored.Agent
	if a.Task != "Ask for the time." || a.Voice != "slt" || a.FirstSentence != "Hello." || !a.WaitForGreeting || !a.Record ||
		a.MaxDuration != 90*time.Second || a.Language != "en" || a.Model != "base" || *a.Temperature != 0.25 ||
		a.TransferTo != "+14155550199" || a.Webhook != "https://example.com/hook" {
		t.Errorf("agent %+v", a)
	}
	record := h.want(http.StatusOK, "GET", "/v1/calls/"+id, "")
	for name, want := range map[string]any{
		"call_id": id, "c_id": id, "queue_status": "queued", "status": "unknown", "completed": false, "inbound": false,
		"to": theirNumber, "from": ourNumber, "max_duration": 1.5, "started_at": nil, "call_length": nil,
		"corrected_duration": nil, "recording_url": nil, "answered_by": nil, "call_ended_by": nil, "sip_code": nil,
		"concatenated_transcript": "", "model": nil, "redirected_to": nil, "transferred_to": nil, "transferred_by": nil,
	} {
		if record[name] != want {
			t.Errorf("%s is %v, want %v", name, record[name], want)
		}
	}
	if at(t, record, "request_data", "tries") != 3.0 || at(t, record, "metadata", "ticket") != "4711" {
		t.Errorf("data %v, metadata %v", record["request_data"], record["metadata"])
	}
}

// ended stores an ended call.
func (h *house) ended(id string, created time.Time) call.Call {
	h.t.Helper()
	return h.endedAs(id, created, func(*call.Call) {})
}

// endedAs stores an ended call that change may alter.
func (h *house) endedAs(id string, created time.Time, change func(*call.Call)) call.Call {
	h.t.Helper()
	started, ended := created.Add(4*time.Second), created.Add(47500*time.Millisecond)
	c := call.Call{
		ID: id, Org: h.org, From: ourNumber, To: theirNumber, Queue: call.QueueComplete, Status: call.StatusCompleted,
		CreatedAt: created, StartedAt: &started, EndedAt: &ended, ModelUsed: "scripted", AnsweredBy: call.AnsweredByUnknown,
		Ending: &call.HangupReason{Cause: call.CauseRemoteHangup, SIPCode: 200, ByPeer: true}, Recorded: true, ModelCalls: call.ModelCalls{All: 5, Withdrawn: 2},
		Agent:         agents.Agent{Task: "Talk.", Voice: "slt", Record: true, MaxDuration: time.Hour},
		TransferredTo: "+14155550199", TransferredAt: &ended, TransferredBy: call.TransferredByPeer, Version: 1,
		Carriage: call.LegInfo{RedirectedTo: "sip:+14155550198@pbx.example.com"},
	}
	change(&c)
	if err := h.calls.Insert(h.t.Context(), c); err != nil {
		h.t.Fatal(err)
	}
	return c
}

func TestGetCallTellsHowItWent(t *testing.T) {
	t.Parallel()
	h := open(t)
	created := time.Date(2026, 3, 2, 9, 15, 0, 7000000, time.UTC)
	h.ended("c1", created)
	for i, e := range []call.Entry{
		{Speaker: call.SpeakerAssistant, Text: "Hello.", Start: 500 * time.Millisecond, End: time.Second, Interrupted: true, Holds: []conversation.Hold{
			{Start: 700 * time.Millisecond, Length: 42500 * time.Microsecond, Why: conversation.HoldBackChannel},
		}},
		{Speaker: call.SpeakerUser, Text: "Hi.", Start: 2 * time.Second, End: 3 * time.Second, Turn: 1, Waited: 480 * time.Millisecond, WaitedFor: "pause", Expected: conversation.Expected{Kind: expect.Digits, Min: 4, Digits: "0123"}},
		{Speaker: call.SpeakerAction, Text: "Pressed 1.", Latency: conversation.Latency{Playing: 1500 * time.Microsecond}},
		{
			Speaker: call.SpeakerAssistant, Text: "Which day?", Turn: 1, Latency: conversation.Latency{EndOfTurn: 480 * time.Millisecond, Playing: 700 * time.Millisecond},
			Begun: []conversation.Begun{{At: 3200 * time.Millisecond, Why: conversation.BegunRevised}, {At: 3300 * time.Millisecond, Used: true}},
		},
	} {
		e.Seq, e.CreatedAt = i+1, created
		if err := h.calls.Append(t.Context(), h.org, "c1", e); err != nil {
			t.Fatal(err)
		}
	}
	record := h.want(http.StatusOK, "GET", "/v1/calls/c1", "")
	for name, want := range map[string]any{
		"created_at": "2026-03-02T09:15:00.007Z", "started_at": "2026-03-02T09:15:04.007Z", "call_length": 0.725,
		"corrected_duration": "44", "completed": true, "status": "completed", "answered_by": "unknown",
		"call_ended_by": "USER", "recording_url": "https://voice.example.com/v1/recordings/c1", "model": "scripted",
		"sip_code": 200.0, "voice_id": "slt", "transferred_to": "+14155550199", "transferred_by": "USER",
		"redirected_to":           "sip:+14155550198@pbx.example.com",
		"transferred_at":          "2026-03-02T09:15:47.507Z",
		"concatenated_transcript": "assistant: Hello.\nuser: Hi.\nagent-action: Pressed 1.\nassistant: Which day?",
	} {
		if record[name] != want {
			t.Errorf("%s is %v, want %v", name, record[name], want)
		}
	}
	if at(t, record, "transcripts", 0, "interrupted") != true || at(t, record, "transcripts", 1, "start") != 2.0 ||
		at(t, record, "transcripts", 2, "latency", "playing_ms") != 1.5 ||
		at(t, record, "transcripts", 2, "latency", "end_of_turn_ms") != nil || at(t, record, "transcripts", 2, "id") != 3.0 ||
		at(t, record, "transcripts", 0, "held", 0, "start_ms") != 700.0 || at(t, record, "transcripts", 0, "held", 0, "ms") != 42.5 ||
		at(t, record, "transcripts", 0, "held", 0, "why") != "backchannel" {
		t.Errorf("transcript %v", record["transcripts"])
	}
	if _, numbered := at(t, record, "transcripts", 0).(map[string]any)["turn"]; numbered {
		t.Error("the first sentence has a turn")
	}
	for _, c := range []struct {
		want any
		path []any
	}{
		{1.0, []any{"transcripts", 1, "turn"}}, {480.0, []any{"transcripts", 1, "waited", "ms"}}, {"pause", []any{"transcripts", 1, "waited", "why"}},
		{"digits", []any{"transcripts", 1, "expected", "kind"}}, {4.0, []any{"transcripts", 1, "expected", "min"}},
		{nil, []any{"transcripts", 1, "expected", "max"}}, {"0123", []any{"transcripts", 1, "expected", "digits"}},
		{3200.0, []any{"transcripts", 3, "begun", 0, "start_ms"}}, {false, []any{"transcripts", 3, "begun", 0, "used"}},
		{"revised", []any{"transcripts", 3, "begun", 0, "why"}}, {true, []any{"transcripts", 3, "begun", 1, "used"}},
		{1.0, []any{"conversation", "turns"}}, {1.0, []any{"conversation", "interrupted"}}, {1.0, []any{"conversation", "resumed"}},
		{0.0, []any{"conversation", "turns_cut"}}, {2.0, []any{"conversation", "answers_begun"}}, {1.0, []any{"conversation", "answers_withdrawn"}},
		{5.0, []any{"conversation", "model_calls"}}, {2.0, []any{"conversation", "model_calls_withdrawn"}},
		{1.0, []any{"conversation", "latency", "answers"}}, {700.0, []any{"conversation", "latency", "p95", "playing_ms"}},
		{nil, []any{"conversation", "latency", "p50", "first_audio_ms"}},
	} {
		if got := at(t, record, c.path...); got != c.want {
			t.Errorf("%v is %v, want %v", c.path, got, c.want)
		}
	}
}

func TestListCallsFiltersAndPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	first := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for i, id := range []string{"c1", "c2", "c3"} {
		h.ended(id, first.Add(time.Duration(i)*time.Hour))
	}
	h.want(http.StatusOK, "POST", "/v1/calls", `{"phone_number":"+14155550177","task":"Talk."}`)
	for query, want := range map[string]string{
		"?completed=true":                                          "c3 c2 c1",
		"?completed=true&ascending=true":                           "c1 c2 c3",
		"?completed=true&limit=2":                                  "c3 c2",
		"?to_number=%2B14155550123&inbound=false":                  "c3 c2 c1",
		"?to_number=+14155550123":                                  "c3 c2 c1", // the plus is decoded as a space
		"?start_date=2026-03-02T10:00:00Z&completed=true":          "c3 c2",
		"?start_date=2026-03-02T12:00:00.5%2B02:00&completed=true": "c3",
		"?end_date=2026-03-02T10:00:00Z":                           "c1",
		"?inbound=true":                                            "",
		"?from_number=%2B15550000000":                              "",
	} {
		answer := h.want(http.StatusOK, "GET", "/v1/calls"+query, "")
		var ids []string
		calls, _ := answer["calls"].([]any)
		for i := range calls {
			ids = append(ids, at(t, calls, i, "call_id").(string))
		}
		if got := strings.Join(ids, " "); got != want || answer["count"] != float64(len(ids)) {
			t.Errorf("%s: %s of count %v, want %s", query, got, answer["count"], want)
		}
	}
	page := h.want(http.StatusOK, "GET", "/v1/calls?completed=true&limit=2", "")
	cursor, _ := page["next_cursor"].(string)
	rest := h.want(http.StatusOK, "GET", "/v1/calls?completed=true&limit=2&cursor="+cursor, "")
	if page["total_count"] != 3.0 || at(t, rest, "calls", 0, "call_id") != "c1" || rest["next_cursor"] != nil {
		t.Errorf("first page %v, second %v", page, rest)
	}
}

func TestStopCall(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	id := h.want(http.StatusOK, "POST", "/v1/calls", `{"phone_number":"`+theirNumber+`","task":"Talk."}`)["call_id"].(string)
	stopped := h.want(http.StatusOK, "POST", "/v1/calls/"+id+"/stop", "")
	if stopped["status"] != "success" || stopped["message"] == "" {
		t.Errorf("answer %v", stopped)
	}
	if record := h.want(http.StatusOK, "GET", "/v1/calls/"+id, ""); record["status"] != "canceled" {
		t.Errorf("status %v", record["status"])
	}
	again := h.want(http.StatusConflict, "POST", "/v1/calls/"+id+"/stop", "")
	if at(t, again, "errors", 0, "error") != "INVALID_STATE" || again["status"] != "error" {
		t.Errorf("second stop %v", again)
	}
}

func TestRecordingIsStreamedWholeAndInParts(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.ended("c1", time.Now().UTC())
	file, err := h.files.Create(t.Context(), h.org, "c1")
	if err != nil {
		t.Fatal(err)
	}
	content := "RIFF" + strings.Repeat("wav.", 100)
	if _, err := file.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	whole := h.do("GET", "/v1/recordings/c1", "")
	if whole.Code != http.StatusOK || whole.Body.String() != content || whole.Header().Get("Content-Type") != "audio/wav" ||
		whole.Header().Get("Accept-Ranges") != "bytes" {
		t.Errorf("whole: %d %v %s", whole.Code, whole.Header(), whole.Body)
	}
	part := h.do("GET", "/v1/recordings/c1", "", header{"Range", "bytes=4-7"})
	if part.Code != http.StatusPartialContent || part.Body.String() != "wav." ||
		part.Header().Get("Content-Range") != "bytes 4-7/404" {
		t.Errorf("part: %d %v %s", part.Code, part.Header(), part.Body)
	}
	absent := h.want(http.StatusNotFound, "GET", "/v1/recordings/c2", "")
	if at(t, absent, "errors", 0, "error") != "CALL_RECORDING_NOT_FOUND" || absent["data"] != nil {
		t.Errorf("absent: %v", absent)
	}
}

func TestCallsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	for name, c := range map[string]struct {
		status     int
		body, code string
		field      string
	}{
		"not E.164":         {400, `{"phone_number":"call me","task":"x"}`, "BAD_REQUEST", "phone_number"},
		"not attached":      {400, `{"phone_number":"` + theirNumber + `","from":"+14155550555","task":"x"}`, "BAD_REQUEST", "from"},
		"no task":           {400, `{"phone_number":"` + theirNumber + `"}`, "BAD_REQUEST", "task"},
		"no number":         {400, `{"task":"x"}`, "BAD_REQUEST", "phone_number"},
		"hook that may not": {400, `{"phone_number":"` + theirNumber + `","task":"x","webhook":"http://x"}`, "BAD_REQUEST", "webhook"},
		"too long":          {400, `{"phone_number":"` + theirNumber + `","task":"x","max_duration":721}`, "BAD_REQUEST", "max_duration"},
		"no time at all":    {400, `{"phone_number":"` + theirNumber + `","task":"x","max_duration":0}`, "BAD_REQUEST", "max_duration"},
	} {
		answer := h.want(c.status, "POST", "/v1/calls", c.body)
		text, _ := at(t, answer, "errors", 0, "message").(string)
		if answer["status"] != "error" || at(t, answer, "errors", 0, "error") != c.code || !strings.HasPrefix(text, c.field+": ") {
			t.Errorf("%s: %v", name, answer)
		}
	}
}

// TestGetCallTellsOfItsWebhook checks that the record of a call shows the state of its webhook delivery, without the URL.
func TestGetCallTellsOfItsWebhook(t *testing.T) {
	t.Parallel()
	h := open(t)
	at := time.Date(2026, 3, 2, 9, 15, 0, 7000000, time.UTC)
	for id, test := range map[string]struct {
		delivery call.Delivery
		want     string
	}{
		"none":    {call.Delivery{}, `"webhook_delivery":null`},
		"pending": {call.Delivery{State: call.DeliveryPending}, `"webhook_delivery":{"status":"pending","attempts":0,"last_attempt_at":null,"last_failure":null}`},
		"over": {
			call.Delivery{State: call.DeliveryGivenUp, Attempts: 11, LastAttempt: &at, LastFailure: "no answer within 10s"},
			`"webhook_delivery":{"status":"given_up","attempts":11,"last_attempt_at":"2026-03-02T09:15:00.007Z","last_failure":"no answer within 10s"}`,
		},
	} {
		h.endedAs(id, at, func(c *call.Call) {
			c.Agent.Webhook, c.Delivery = "https://hook.example/services/hunter2?token=hunter2", test.delivery
		})
		if got := h.do("GET", "/v1/calls/"+id, ""); !strings.Contains(got.Body.String(), test.want) || strings.Contains(got.Body.String(), "hunter2") {
			t.Errorf("%s: got %s, want %s", id, got.Body, test.want)
		}
	}
}
