package agentstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

func keepsTranscript(t *testing.T, s call.Store) {
	insertCalls(t, s, aCall("c1", "a"))
	want := []call.Entry{
		{Seq: 1, Speaker: call.SpeakerAssistant, Text: "Hello.", Start: 20 * time.Millisecond, End: time.Second, CreatedAt: at},
		{
			Seq: 2, Speaker: call.SpeakerUser, Text: "Söme \U0001F600 text", Start: 2 * time.Second, End: 3 * time.Second,
			Interrupted: true, Unrecognized: conversation.UnrecognizedTimeout, CreatedAt: at.Add(time.Second),
			Latency: conversation.Latency{EndOfTurn: 1, Recognized: 2, FirstStep: 3, FirstAudio: 4, Playing: 5},
			Holds: []conversation.Hold{
				{Start: 2100 * time.Millisecond, Length: time.Second, Why: conversation.HoldBackChannel},
				{Start: 2900 * time.Millisecond, Length: 5, Why: conversation.HoldCut},
			},
			Turn: 3, Waited: 480 * time.Millisecond, WaitedFor: "complete",
			Expected: conversation.Expected{Kind: expect.Digits, Min: 4, Max: 6, Digits: "0123"},
			Begun: []conversation.Begun{
				{At: 1700 * time.Millisecond, Why: conversation.BegunContinued}, {At: 1900 * time.Millisecond, Used: true},
			},
		},
	}
	for _, seq := range []int{1, 0, 1, 0} { // out of order, and each twice
		if err := s.Append(t.Context(), "a", "c1", want[seq]); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Transcript(t.Context(), "a", "c1")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

// keepsSpokenLine checks that the line that the agent is speaking is stored beside the transcript, until the agent's next line.
func keepsSpokenLine(t *testing.T, s call.Store) {
	insertCalls(t, s, aCall("c1", "a"), aCall("c2", "a"))
	check := func(want call.Entry, spoken bool, lines ...int) {
		t.Helper()
		got, ok, err := s.Spoken(t.Context(), "a", "c1")
		if err != nil || ok != spoken || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %t, %v\nwant %+v, %t", got, ok, err, want, spoken)
		}
		all, err := s.Transcript(t.Context(), "a", "c1")
		before, errBefore := s.TranscriptBefore(t.Context(), "a", "c1", 0, 10)
		at, errAt := s.LinesAt(t.Context(), "a", []call.LinePlace{{Call: "c1", Seq: 0}})
		p, errPosition := s.Position(t.Context(), "a", "c1")
		if err := errors.Join(err, errBefore, errAt, errPosition); err != nil || len(all) != len(lines) || len(before) != len(lines) || len(at) != 0 || p.Line != len(lines) {
			t.Errorf("transcript %+v, %+v, %+v, position %+v, %v; want the lines %d", all, before, at, p, err, lines)
		}
	}
	check(call.Entry{}, false)
	part := call.Entry{Speaker: call.SpeakerAssistant, Text: "We are", Turn: 2, Start: time.Second, End: 2 * time.Second, CreatedAt: at}
	numbered := part
	numbered.Seq = 7
	if err := s.Speak(t.Context(), "a", "c1", numbered); err != nil {
		t.Fatal(err)
	}
	check(part, true)
	part.Text, part.End, part.CreatedAt = "We are open S\u00f6me", 3*time.Second, at.Add(time.Second)
	for range 2 {
		if err := s.Speak(t.Context(), "a", "c1", part); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Append(t.Context(), "a", "c1", call.Entry{Seq: 1, Speaker: call.SpeakerUser, Text: "uh-huh", CreatedAt: at}); err != nil {
		t.Fatal(err)
	}
	check(part, true, 1)
	if err := s.Append(t.Context(), "a", "c2", call.Entry{Seq: 1, Speaker: call.SpeakerAssistant, CreatedAt: at}); err != nil {
		t.Fatal(err)
	}
	check(part, true, 1)
	if err := s.Append(t.Context(), "a", "c1", call.Entry{Seq: 2, Speaker: call.SpeakerAssistant, Text: "We are open.", CreatedAt: at}); err != nil {
		t.Fatal(err)
	}
	check(call.Entry{}, false, 1, 2)
	for name, id := range map[string]struct {
		org callwright.OrgID
		id  string
	}{"another organization": {"b", "c1"}, "an absent call": {"a", "c9"}} {
		_, _, err := s.Spoken(t.Context(), id.org, id.id)
		if errSpeak := s.Speak(t.Context(), id.org, id.id, part); !errors.Is(err, callwright.ErrNotFound) || !errors.Is(errSpeak, callwright.ErrNotFound) {
			t.Errorf("%s: %v, %v", name, err, errSpeak)
		}
	}
}

// aLog returns a log with a visit, a decision, variables and a request.
func aLog(turn int) pathway.Log {
	return pathway.Log{
		Turn: turn, Node: "ask", Heard: "S\u00f6me \U0001F600", Said: "Which day?", Usage: llm.Usage{Input: 120, Output: 7}, ModelCalls: 3, Withdrawn: pathway.Withdrawn{Answers: 2, Usage: llm.Usage{Input: 30, Output: 4}, ModelCalls: 4, Models: []llm.Use{{Model: "small", Requests: 4, Usage: llm.Usage{Input: 30, Output: 4}}}},
		Models:   []llm.Use{{Model: "large", Replaced: "small", Cause: llm.ClassRateLimited, Requests: 3, Failed: 1, Uncounted: 1, Usage: llm.Usage{Input: 120, Output: 7, Cached: 100}}},
		Duration: 1234567 * time.Nanosecond,
		Entries: []pathway.LogEntry{
			{Kind: pathway.LogVisit, Node: "ask", Name: "Ask", Tag: "asked", At: at, Settings: map[string]float64{"interruptibility": 0, "min_endpointing_delay": 800.5}},
			{
				Kind: pathway.LogDecision, Node: "ask", Name: "Ask", Chosen: "look", Edge: "e1", Text: "It was monday.",
				At: at.Add(time.Second),
			},
			{Kind: pathway.LogVariables, Variables: map[string]any{"day": "monday", "seats": 4.0, "none": nil}, At: at},
			{
				Kind: pathway.LogRequest, Node: "look", At: at,
				Request: &request.Log{
					Name: "look", Method: "POST", URL: "https://x.example/", Status: 200, Duration: time.Second,
					Body:      json.RawMessage(`{"free":[true,1.5,"<&>\u2603"]}`),
					Variables: map[string]any{"free": true}, Error: "too late",
				},
			},
		},
	}
}

func keepsLogs(t *testing.T, s call.Store) {
	insertCalls(t, s, aCall("c1", "a"), aCall("c2", "a"))
	if got, err := s.Logs(t.Context(), "a", "c1"); err != nil || len(got) != 0 {
		t.Errorf("a call that has said nothing has %+v, %v", got, err)
	}
	want := []pathway.Log{aLog(1), {Turn: 2, Entries: []pathway.LogEntry{{Kind: pathway.LogError, At: at}}}, {Turn: 11}}
	for _, i := range []int{2, 0, 1} { // out of order
		if err := s.AppendLog(t.Context(), "a", "c1", want[i]); err != nil {
			t.Fatal(err)
		}
	}
	again, other := pathway.Log{Turn: 2, Said: "other"}, aLog(2)
	for id, l := range map[string]pathway.Log{"c1": again, "c2": other} {
		if err := s.AppendLog(t.Context(), "a", id, l); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Logs(t.Context(), "a", "c1"); err != nil || !sameJSON(t, got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	spoil := func(l pathway.Log) { l.Entries[2].Variables["day"] = "spoilt" }
	spoil(other)
	for range 2 {
		got, err := s.Logs(t.Context(), "a", "c2")
		if err != nil || !sameJSON(t, got, []pathway.Log{aLog(2)}) {
			t.Fatalf("got %+v, %v", got, err)
		}
		spoil(got[0])
	}
}

func keepsNotices(t *testing.T, s call.Store) {
	insertCalls(t, s, aCall("c1", "a"), aCall("c2", "a"))
	want := call.Notice{
		Seq: 1, Category: call.EventsLatency, Level: call.EventPerformance, Message: "S\u00f6me \U0001F600", CreatedAt: at,
	}
	again, second := want, want
	again.Message, second.Seq, second.Category = "other", 12, call.EventsTool
	for _, n := range []call.Notice{second, want, again} {
		if err := s.AppendNotice(t.Context(), "a", "c1", n); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []call.Notice{want, second} {
		if got, err := s.Notice(t.Context(), "a", "c1", want.Seq); err != nil || got != want {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
	_, seqErr := s.Notice(t.Context(), "a", "c1", 2)
	_, callErr := s.Notice(t.Context(), "a", "c2", 1)
	for _, err := range []error{seqErr, callErr} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("got %v, want not found", err)
		}
	}
}

// pagesEvents checks that TranscriptBefore and LogsBefore page from the end to the beginning, even if numbers are missing.
func pagesEvents(t *testing.T, s call.Store) {
	insertCalls(t, s, aCall("c1", "a"))
	for _, n := range []int{1, 2, 3, 5, 8} {
		if err := s.Append(t.Context(), "a", "c1", call.Entry{Seq: n, Speaker: call.SpeakerUser, CreatedAt: at}); err != nil {
			t.Fatal(err)
		}
		if err := s.AppendLog(t.Context(), "a", "c1", pathway.Log{Turn: n}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		before, limit int
		numbers       string
	}{{0, 2, "[5 8]"}, {0, 9, "[1 2 3 5 8]"}, {5, 2, "[2 3]"}, {6, 1, "[5]"}, {1, 5, "[]"}, {100, 1, "[8]"}} {
		lines, linesErr := s.TranscriptBefore(t.Context(), "a", "c1", want.before, want.limit)
		logs, logsErr := s.LogsBefore(t.Context(), "a", "c1", want.before, want.limit)
		seqs, turns := []int{}, []int{}
		for _, e := range lines {
			seqs = append(seqs, e.Seq)
		}
		for _, l := range logs {
			turns = append(turns, l.Turn)
		}
		if linesErr != nil || fmt.Sprint(seqs) != want.numbers {
			t.Errorf("%d lines before %d: got %v, %v", want.limit, want.before, seqs, linesErr)
		}
		if logsErr != nil || fmt.Sprint(turns) != want.numbers {
			t.Errorf("%d logs before %d: got %v, %v", want.limit, want.before, turns, logsErr)
		}
	}
}

// findsLines checks that the store finds lines of two calls by their places, and ignores places of absent lines, absent calls and another
// organization's calls.
func findsLines(t *testing.T, s call.Store) {
	insertCalls(t, s, aCall("c1", "a"), aCall("c2", "a"), aCall("c3", "b"))
	want := map[call.LinePlace]call.Entry{}
	for _, id := range []string{"c1", "c2", "c3"} {
		for _, seq := range []int{1, 2, 4} {
			line := call.Entry{Seq: seq, Speaker: call.SpeakerUser, Text: id + "'s", Start: time.Duration(seq) * time.Second, CreatedAt: at}
			org := callwright.OrgID("a")
			if id == "c3" {
				org = "b"
			}
			if err := s.Append(t.Context(), org, id, line); err != nil {
				t.Fatal(err)
			}
			want[call.LinePlace{Call: id, Seq: seq}] = line
		}
	}
	places := []call.LinePlace{
		{Call: "c1", Seq: 2}, {Call: "c2", Seq: 4}, {Call: "c2", Seq: 1}, {Call: "c1", Seq: 2}, {Call: "c1", Seq: 3}, {Call: "c1", Seq: 0},
		{Call: "c2", Seq: -1}, {Call: "c3", Seq: 1}, {Call: "c9", Seq: 1}, {Call: "c1' OR 'a", Seq: 1 << 30},
	}
	got, err := s.LinesAt(t.Context(), "a", places)
	if err != nil || len(got) != 3 {
		t.Errorf("got %v, %v", got, err)
	}
	for _, place := range places[:3] {
		if !reflect.DeepEqual(got[place], want[place]) {
			t.Errorf("at %v: got %+v, want %+v", place, got[place], want[place])
		}
	}
}
