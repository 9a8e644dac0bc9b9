package calls_test

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
)

const ms = time.Millisecond

// converse stores a call with turns, a back-channel, early answers, pauses and an interruption.
func (h *house) converse(id string) {
	h.call(id, func(*call.Call) {})
	for i, e := range []call.Entry{
		{Speaker: call.SpeakerAssistant, Text: "Good morning, how can I help?", Start: 400 * ms, End: 3200 * ms},
		{Speaker: call.SpeakerUser, Turn: 1, Text: "My number is four one five", Start: 4 * time.Second, End: 8 * time.Second, Waited: 900 * ms, WaitedFor: "number", Expected: conversation.Expected{Kind: expect.Digits, Min: 3, Max: 10, Digits: "415"}},
		{
			Speaker: call.SpeakerAssistant, Turn: 1, Text: "Thank you. We are open from eight in the morning until six in the evening.", Start: 9200 * ms, End: 18 * time.Second,
			Latency: conversation.Latency{EndOfTurn: 900 * ms, Recognized: 950 * ms, FirstStep: time.Second, FirstAudio: 1100 * ms, Playing: 1200 * ms},
			Begun:   []conversation.Begun{{At: 6 * time.Second, Why: conversation.BegunContinued}, {At: 8400 * ms, Used: true}},
			Holds: []conversation.Hold{
				{Start: 12 * time.Second, Length: 720 * ms, Why: conversation.HoldBackChannel}, {Start: 17700 * ms, Length: 300 * ms, Why: conversation.HoldCut},
			},
			Interrupted: true,
		},
		{Speaker: call.SpeakerUser, Text: "Uh-huh.", Start: 11800 * ms, End: 12300 * ms},
		{Speaker: call.SpeakerUser, Turn: 2, Text: `Wait, "stop" <please>.`, Start: 17500 * ms, End: 19 * time.Second, Waited: 400 * ms, WaitedFor: "finished", Expected: conversation.Expected{Kind: expect.Digits, Min: 4, Max: 4}},
		{Speaker: call.SpeakerUser, Turn: 3, Text: "I have a question.", Start: 20 * time.Second, End: 21 * time.Second, Waited: 400 * ms, WaitedFor: "invented", Expected: conversation.Expected{Kind: expect.YesNo}},
		{Speaker: call.SpeakerUser, Turn: 4, Text: "Hello", Unrecognized: conversation.UnrecognizedTimeout, Start: 21500 * ms, End: 21900 * ms},
		{Speaker: call.SpeakerAction, Turn: 3, Text: "pressed 1", Start: 22 * time.Second, End: 22 * time.Second},
	} {
		e.Seq = i + 1
		h.line(id, e)
	}
}

// TestLanes checks the picture of a conversation, its accessible texts, the annotations of the transcript, and the summary.
func TestLanes(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.converse("c1")
	text := h.want(http.StatusOK, "/calls/c1",
		`<a class="c1" href="#line-2">`, "4.000 s Other side: My number is four one five · the turn was over after 900 ms: a number</title>",
		"begun early at 0:06.0 and withdrawn: the other side continued to speak", "<title>answered 1.2 s after the last word</title>",
		"<title>held at 0:12.0 for 720 ms: an acknowledgement</title>", "<title>interrupted at 0:18.0</title>", `class="aside"`, `class="stripes"`,
		"Wait, &#34;stop&#34; &lt;please&gt;.", `aria-current="true">30 seconds</a>`, `href="?row=60#lanes-rows"`, "agent paused: 2.",
		"(turn over after 400 ms: a complete sentence)", "(turn over after 400 ms: invented)", "(begun early at 0:08.4)",
		"(expected digits (3 to 10), heard 415)", "(expected digits (4), heard none)", "(expected yes or no)",
		"(begun early at 0:06.0, withdrawn: the other side continued to speak)",
		"Other side: Hello (not recognized) · not recognized: the recognizer returned no text in time</title>", "not recognized: 1.",
		`Hello <small class="fault">(not recognized: the recognizer returned no text in time)</small>`, "<dd>words of the other side, 1 time</dd>",
		"<dd>4, of which 1 ended too early: the other side continued within a second</dd>", "<dd>1; the agent paused and continued 1 time</dd>",
		"<dd>2, of which 1 was withdrawn</dd>", "1 answer to speech in the whole call",
		`<th scope="row">Median</th><td class="number">900 ms</td><td class="number">950 ms</td><td class="number">1.0 s</td><td class="number">1.1 s</td><td class="number">1.2 s</td>`)
	if n := strings.Count(text, `class="aside"`); n != 1 {
		t.Errorf("%d lines are drawn as no turn", n)
	}
	h.want(http.StatusOK, "/calls/c1?row=10", `aria-current="true">10 seconds</a>`, `!aria-current="true">30 seconds</a>`)
	h.want(http.StatusOK, "/calls/c1?row=x", `aria-current="true">30 seconds</a>`)
	h.call("silent", func(*call.Call) {})
	h.want(http.StatusOK, "/calls/silent", "!lanes-rows", `!id="summary"`)
}

// TestLanesOfALongCall checks that a page of a call of an hour draws only its own lines, in rows of a minute, and that the summary is of the
// whole call.
func TestLanesOfALongCall(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.call("c1", func(*call.Call) {})
	for i := 1; i <= 600; i++ {
		e := call.Entry{Seq: i, Turn: (i + 1) / 2, Speaker: call.SpeakerUser, Text: "and then I said", Start: time.Duration(i) * 6 * time.Second, Waited: 500 * ms}
		if i%2 == 0 {
			e.Speaker, e.Waited = call.SpeakerAssistant, 0
		}
		e.End = e.Start + 4*time.Second
		h.line("c1", e)
	}
	text := h.want(http.StatusOK, "/calls/c1?lines=6", `aria-current="true">1 minute</a>`, "<dd>300</dd>", `href="?lines=6&amp;row=300#lanes-rows"`)
	picture := regexp.MustCompile(`(?s)<svg[^>]*class="chart lanes.*?</svg>`).FindString(text)
	if n := strings.Count(picture, "<a "); n != 100 || !strings.Contains(picture, ">50:00<") || strings.Contains(picture, ">49:00<") || len(picture) > 60_000 {
		t.Errorf("the picture has %d lines in %d bytes", n, len(picture))
	}
	h.call("c2", running)
	for i := 1; i <= 101; i++ {
		h.line("c2", call.Entry{Seq: i, Turn: i, Speaker: call.SpeakerUser, Text: fmt.Sprint(i)})
	}
	h.want(http.StatusOK, "/calls/c2", `!id="summary"`, `id="live-lanes"`)
}

// operator answers every call, and says nothing.
type operator struct{ *agents.Service }

func (operator) Answering(context.Context, callwright.OrgID, callwright.PhoneNumber) (agents.Agent, error) {
	return agents.Agent{Task: "Listen.", MaxDuration: time.Hour}, nil
}

func (operator) Respond(context.Context, conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(func(conversation.Step, error) bool) {}
}

// TestPartialWords checks that the page of a running call shows the words that the other side is saying, and then their line.
func TestPartialWords(t *testing.T) {
	t.Parallel()
	line := agentstest.NewLine(agentstest.PhoneConfig{})
	h := open(t, func(c *call.Config) {
		c.Line, c.Recognizer, c.Agents = line, &agentstest.StreamingRecognizer{}, operator{}
		c.NewBrain = func(context.Context, call.Call) (conversation.Brain, error) { return operator{}, nil }
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	running := make(chan error, 1)
	go func() { running <- h.service.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-running; err != nil {
			t.Error(err)
		}
	}()
	phone, err := line.Call(call.CallerInfo{Org: org, From: "+14155550123", To: "+14155550100"}, agentstest.PhoneConfig{}).Phone(ctx)
	if err != nil {
		t.Fatal(err)
	}
	placed, _, err := h.calls.List(ctx, org, call.Filter{})
	if err != nil || len(placed.Items) != 1 {
		t.Fatalf("%d calls, %v", len(placed.Items), err)
	}
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, h.URL+"/calls/"+placed.Items[0].ID, http.NoBody))
	r.Header.Set("Accept", "text/event-stream")
	answer := must(h.client.Do(r)) //nolint:bodyclose // the next line closes it
	defer answer.Body.Close()
	parts := bufio.NewScanner(answer.Body)
	until := func(want string) {
		t.Helper()
		for parts.Scan() {
			if strings.Contains(parts.Text(), want) {
				return
			}
		}
		t.Fatalf("%v before %q", parts.Err(), want)
	}
	until("Nothing has been said yet.")
	phone.Say("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen") // for six seconds
	until(`<strong>Other side</strong></span> <span class="said muted">`)
	until(`id="line-1"`)
	h.want(http.StatusOK, "/calls/"+placed.Items[0].ID, `id="line-1"`, `<div id="live-partial"></div>`)
	phone.Hangup()
}
