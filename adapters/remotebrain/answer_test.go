package remotebrain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/remotebrain"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/pathway"
)

// stream is a Sender whose answers a function returns.
type stream func(ctx context.Context, body []byte) (io.ReadCloser, error)

func (s stream) Stream(ctx context.Context, _ callwright.OrgID, _, _ string, body []byte) (io.ReadCloser, error) {
	return s(ctx, body)
}

// says returns a Sender that always answers with a text.
func says(text string) stream {
	return func(context.Context, []byte) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

// answer returns the steps and the error of the first answer.
func answer(t *testing.T, s remotebrain.Sender, change func(*remotebrain.Config)) (steps []conversation.Step, err error) {
	t.Helper()
	b := brain(t, "https://brain.example", func(c *remotebrain.Config) {
		c.Sender = s
		if change != nil {
			change(c)
		}
	})
	for step, fault := range b.Respond(t.Context(), conversation.Turn{Kind: conversation.TurnStart}) {
		if fault != nil {
			err = fault
			continue
		}
		steps = append(steps, step)
	}
	return steps, err
}

// TestLines checks the steps of every type of line, and that docs/brains.schema.json accepts the same lines.
func TestLines(t *testing.T) {
	t.Parallel()
	accepts := schema(t, "line")
	long := strings.Repeat("x", 201)
	for line, want := range map[string][]conversation.Step{
		`{"type":"say","text":"One. Two."}`:         {conversation.Say{Text: "One."}, conversation.Say{Text: "Two."}},
		`{"type":"say","text":"A\u0007b\nc."}`:      {conversation.Say{Text: "Ab"}, conversation.Say{Text: "c."}},
		`{"type":"say","text":"Hi.","future":true}`: {conversation.Say{Text: "Hi."}},
		`{"type":"text","text":"No sentence"}`:      {conversation.Say{Text: "No sentence"}},
		`{"type":"expect","phrases":["yes"],"kind":"digits","min":4,"max":6,"least_ms":100,"longest_ms":10000}`: {conversation.Expect{
			Phrases: []string{"yes"}, Answer: expect.Answer{Kind: expect.Digits, Min: 4, Max: 6}, Least: 100 * time.Millisecond, Longest: 10 * time.Second,
		}},
		`{"type":"expect"}`:                                {conversation.Expect{}},
		`{"type":"wait","seconds":1.5}`:                    {conversation.Wait{For: 1500 * time.Millisecond}},
		`{"type":"press","digits":"12w#","show":true}`:     {conversation.Press{Digits: "12w#", Show: true}},
		`{"type":"transfer","to":"+14155550101"}`:          {conversation.Transfer{To: "+14155550101"}},
		`{"type":"transfer","to":"sip:desk@example.com"}`:  {conversation.Transfer{To: "sip:desk@example.com"}},
		`{"type":"transfer"}`:                              {conversation.Transfer{To: "+14155550100"}},
		`{"type":"end","reason":"sold"}`:                   {conversation.End{Reason: "sold"}},
		`{"type":"end"}`:                                   {conversation.End{Reason: "the brain was done"}},
		`{"type":"barge_in","level":0,"threshold_ms":300}`: {},
		`{"type":"barge_in","level":null}`:                 {},
		`{"type":"set","variables":{"a":1}}`:               {},
		``:                                                 {},
		`{"type":"sing"}`:                                  nil,
		`{"text":"Hi."}`:                                   nil,
		`{"type":"say","text":7}`:                          nil,
		`["say"]`:                                          nil,
		`{"type":"expect","kind":"song"}`:                  nil,
		`{"type":"expect","min":-1}`:                       nil,
		`{"type":"expect","phrases":["` + long + `"]}`:     nil,
		`{"type":"expect","least_ms":99}`:                  nil,
		`{"type":"barge_in","level":5}`:                    nil,
		`{"type":"barge_in","threshold_ms":10001}`:         nil,
		`{"type":"wait"}`:                                  nil,
		`{"type":"wait","seconds":601}`:                    nil,
		`{"type":"press","digits":"1x"}`:                   nil,
		`{"type":"press"}`:                                 nil,
		`{"type":"set"}`:                                   nil,
		`{"type":"transfer","to":"` + long + long + `"}`:   nil,
		`{"type":"transfer","to":"sip:"}`:                  nil,
		`{"type":"transfer","to":"sip:a@b?Replaces=x"}`:    nil,
		`{"type":"transfer","to":"sip:<x>,y\""}`:           nil,
		`{"type":"transfer","to":"tel:+14155550101"}`:      nil,
		`{"type":"transfer","to":"SIPS:a@b.example:1"}`:    {conversation.Transfer{To: "SIPS:a@b.example:1"}},
	} {
		steps, err := answer(t, says(`{"type":"say","text":"Hello."}`+"\n"+line+"\n"+`{"type":"done"}`), nil)
		var got []conversation.Step
		if len(steps) > 0 {
			got = steps[1:]
		}
		if line != "" && (accepts(line) == nil) != (want != nil) {
			t.Errorf("%s: the schema says %v", line, accepts(line))
		}
		if want == nil {
			if callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.Contains(err.Error(), "line 2: ") {
				t.Errorf("%s: gave %v", line, err)
			}
			continue
		}
		if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) && len(got)+len(want) > 0 {
			t.Errorf("%s: gave %#v, %v, want %#v", line, got, err, want)
		}
	}
}

// schema returns a function that validates JSON with a definition of docs/brains.schema.json.
func schema(t *testing.T, name string) func(text string) error {
	t.Helper()
	file, err := os.Open("../../docs/brains.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	document, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("brains.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("brains.json#/$defs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			return err
		}
		return compiled.Validate(value)
	}
}

// TestFailures checks what the caller hears and what the error says if a service fails.
func TestFailures(t *testing.T) {
	t.Parallel()
	refuses := func(code callwright.Code, message string) stream {
		return func(context.Context, []byte) (io.ReadCloser, error) {
			return nil, callwright.Errorf(code, "%s", message)
		}
	}
	lines := strings.Repeat("\n", remotebrain.MaxLines+1)
	large := fmt.Sprintf(`{"type":"set","variables":{"a":%q}}`, strings.Repeat("x", remotebrain.MaxVariables/2+1))
	for name, test := range map[string]struct {
		sender stream
		code   callwright.Code
		says   string
	}{
		"nothing":          {says(""), callwright.CodeUnavailable, "cut off"},
		"half an answer":   {says(`{"type":"say","text":"Hel`), callwright.CodeUnavailable, "line 1: it is not a JSON object"},
		"no last line":     {says(`{"type":"say","text":"Hello."}`), callwright.CodeUnavailable, "cut off"},
		"no words":         {says(`{"type":"done"}`), callwright.CodeUnavailable, "no words"},
		"a page":           {says("<!doctype html>\n"), callwright.CodeUnavailable, "line 1: it is not a JSON object"},
		"other bytes":      {says("\xff\n"), callwright.CodeUnavailable, "line 1: it is not UTF-8"},
		"a long line":      {says(strings.Repeat("x", remotebrain.MaxLine+1)), callwright.CodeUnavailable, "more than 65536 bytes"},
		"many lines":       {says(lines), callwright.CodeUnavailable, "more than 10000 lines"},
		"many variables":   {says(large + "\n" + strings.Replace(large, `"a"`, `"b"`, 1) + "\n"), callwright.CodeUnavailable, "more than 65536 bytes"},
		"a commit":         {says(`{"type":"commit"}`), callwright.CodeUnavailable, "early turn"},
		"its own error":    {says(`{"type":"error","code":"no_model","message":"the model is away"}`), callwright.CodeUnavailable, "no_model: the model is away"},
		"an error at all":  {says(`{"type":"error"}`), callwright.CodeUnavailable, "does not say why"},
		"a refusal":        {refuses(callwright.CodeForbidden, "the receiver answered with status 401"), callwright.CodeForbidden, "status 401"},
		"no connection":    {refuses(callwright.CodeUnavailable, "the connection failed"), callwright.CodeUnavailable, "the connection failed"},
		"an unknown error": {func(context.Context, []byte) (io.ReadCloser, error) { return nil, errors.New("x") }, callwright.CodeInternal, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log pathway.Log
			steps, err := answer(t, test.sender, func(c *remotebrain.Config) {
				c.Lines.Apology = "Sorry."
				c.Observe = func(l pathway.Log) { log = l }
			})
			if callwright.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %v", err)
			}
			if !slices.Contains(steps, conversation.Step(conversation.Say{Text: "Sorry."})) {
				t.Errorf("the caller hears %v", steps)
			}
			if len(log.Entries) == 0 || log.Entries[0].Request == nil || log.Entries[0].Request.Error == "" {
				t.Errorf("the log is %+v", log)
			}
		})
	}
	steps, err := answer(t, says(`{"type":"say","text":"Hello."}`+"\n"+`{"type":"transfer"}`), func(c *remotebrain.Config) { c.TransferTo, c.Lines.Apology = "", "Sorry." })
	if err == nil || len(steps) != 2 {
		t.Errorf("a transfer to nobody gave %v, %v", steps, err)
	}
}

// TestDeadlines checks that a silent service is given up, and that the time in which the conversation consumes a step does not count.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	const line = `{"type":"say","text":"Hello."}` + "\n"
	for name, silence := range map[string]time.Duration{"before the first line": 0, "between two lines": time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := answer(t, stream(func(ctx context.Context, _ []byte) (io.ReadCloser, error) {
					r, w := io.Pipe()
					go func() {
						if silence > 0 {
							_, _ = w.Write([]byte(line))
						}
						<-ctx.Done()
						_ = w.CloseWithError(ctx.Err())
					}()
					return r, nil
				}), nil)
				if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "silent") || took < 10*time.Second || took > 15*time.Second {
					t.Errorf("after %s: %v", took, err)
				}
			})
		})
	}
	t.Run("a slow conversation", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := brain(t, "https://brain.example", func(c *remotebrain.Config) { c.Sender = says(line + line + `{"type":"done"}`) })
			for _, err := range b.Respond(t.Context(), conversation.Turn{Kind: conversation.TurnStart}) {
				if err != nil {
					t.Error(err)
				}
				time.Sleep(time.Minute)
			}
		})
	})
}

// TestRepeats checks which failed requests are repeated, after which wait, and that the repetition has the same body.
func TestRepeats(t *testing.T) {
	t.Parallel()
	away := func(wait time.Duration) error {
		return &callwright.Error{Code: callwright.CodeUnavailable, Message: "away", RetryAfter: wait}
	}
	for name, test := range map[string]struct {
		fails    []error
		requests int
		took     time.Duration
		ok       bool
	}{
		"once away":      {[]error{away(0)}, 2, 250 * time.Millisecond, true},
		"soon back":      {[]error{away(time.Second)}, 2, time.Second, true},
		"back too late":  {[]error{away(3 * time.Second)}, 1, 0, false},
		"away":           {[]error{away(0), away(0)}, 2, 250 * time.Millisecond, false},
		"a refusal":      {[]error{callwright.ErrForbidden}, 1, 0, false},
		"another answer": {nil, 1, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, bodies := time.Now(), []string{}
				_, err := answer(t, stream(func(_ context.Context, body []byte) (io.ReadCloser, error) {
					bodies = append(bodies, string(body))
					if n := len(bodies); n <= len(test.fails) {
						return nil, test.fails[n-1]
					}
					return io.NopCloser(strings.NewReader(`{"type":"say","text":"Hello."}` + "\n" + `{"type":"done"}`)), nil
				}), nil)
				if (err == nil) != test.ok || len(bodies) != test.requests || time.Since(began) != test.took {
					t.Errorf("%d requests took %s: %v", len(bodies), time.Since(began), err)
				}
				if len(slices.Compact(bodies)) != 1 {
					t.Errorf("the bodies differ: %v", bodies)
				}
			})
		})
	}
}

// TestRequests checks the requests of a conversation with an interruption, a failed transfer, variables and an early turn that is withdrawn.
func TestRequests(t *testing.T) {
	t.Parallel()
	accepts := schema(t, "request")
	var got []string
	url := serve(t, func(w http.ResponseWriter, r remotebrain.Request) { deliberate(w, r) })
	b := brain(t, url, func(c *remotebrain.Config) {
		next := c.Sender
		c.From, c.To = "+14155550101", "+14155550102"
		c.Sender = stream(func(ctx context.Context, body []byte) (io.ReadCloser, error) {
			got = append(got, string(body))
			return next.Stream(ctx, "acme", "1", url, body)
		})
	})
	respond := func(turn conversation.Turn) {
		t.Helper()
		for _, err := range b.Respond(t.Context(), turn) {
			if err != nil {
				t.Error(err)
			}
		}
	}
	respond(conversation.Turn{Kind: conversation.TurnStart})
	withdrawn := new(conversation.Early)
	withdrawn.Decide(false)
	respond(conversation.Turn{Kind: conversation.TurnSpeech, Text: "Well", Early: withdrawn})
	respond(conversation.Turn{Kind: conversation.TurnSpeech, Text: "Well, a person.", Interrupted: true, Heard: "You said ."})
	respond(conversation.Turn{Kind: conversation.TurnStart})
	respond(conversation.Turn{Kind: conversation.TurnSpeech, Text: "One two, double three."})
	want := []string{
		`{"protocol":1,"conversation":"call-1","turn":{"number":1,"kind":"start","text":"","interrupted":false},"early":false,"messages":[],` +
			`"variables":{"name":"Robin"},"language":"en","from":"+14155550101","to":"+14155550102","direction":"inbound","transfer_to":"+14155550100"}`,
		`"turn":{"number":2,"kind":"speech","text":"Well","interrupted":false},"early":true,"messages":[{"role":"agent","text":"You said . I have 0 messages, and heard \"\". What else? Turn 1."},{"role":"caller","text":"Well"}],"variables":{"count":1,"name":"Robin"}`,
		`"turn":{"number":2,"kind":"speech","text":"Well, a person.","interrupted":true,"heard":"You said .","unheard":"I have 0 messages, and heard \"\". What else? Turn 1."},` +
			`"early":false,"messages":[{"role":"agent","text":"You said ."},{"role":"caller","text":"Well, a person."}],"variables":{"count":1,"name":"Robin"}`,
		`"turn":{"number":3,"kind":"start","text":"","interrupted":false},"early":false`,
		`"turn":{"number":4,"kind":"speech","text":"One two, double three.","digits":"1233","interrupted":false},"early":false`,
	}
	if len(got) != len(want) {
		t.Fatalf("there are %d requests", len(got))
	}
	for i, body := range got {
		if !strings.Contains(body, want[i]) {
			t.Errorf("request %d is\n%s, want\n%s", i, body, want[i])
		}
		if err := accepts(body); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
}

// TestSilences checks that the service is asked about the configured number of silences in a row, and that the next one ends the conversation.
func TestSilences(t *testing.T) {
	t.Parallel()
	asked := 0
	url := serve(t, func(w http.ResponseWriter, _ remotebrain.Request) {
		asked++
		write(w, remotebrain.Line{Type: remotebrain.LineSay, Text: "Hello?"}, remotebrain.Line{Type: remotebrain.LineDone})
	})
	b := brain(t, url, func(c *remotebrain.Config) { c.Silences, c.Lines.Goodbye = new(1), "See you." })
	silence := conversation.Turn{Kind: conversation.TurnSilence}
	var steps []conversation.Step
	for _, turn := range []conversation.Turn{{Kind: conversation.TurnStart}, silence, {Kind: conversation.TurnSpeech, Text: "Yes."}, silence, silence} {
		steps = nil
		for step, err := range b.Respond(t.Context(), turn) {
			if err != nil {
				t.Fatal(err)
			}
			steps = append(steps, step)
		}
	}
	if len(steps) != 2 || steps[0] != (conversation.Say{Text: "See you."}) || asked != 4 {
		t.Errorf("after %d requests the last silence is answered with %+v", asked, steps)
	} else if _, ends := steps[1].(conversation.End); !ends {
		t.Errorf("the conversation goes on: %+v", steps)
	}
}

// TestLongConversation checks that the oldest messages are left out of a request.
func TestLongConversation(t *testing.T) {
	t.Parallel()
	var last string
	b := brain(t, "https://brain.example", func(c *remotebrain.Config) {
		c.Sender = stream(func(_ context.Context, body []byte) (io.ReadCloser, error) {
			last = string(body)
			return io.NopCloser(strings.NewReader(`{"type":"say","text":"` + strings.Repeat("Word. ", 1000) + `"}` + "\n" + `{"type":"done"}`)), nil
		})
	})
	for range 30 {
		for _, err := range b.Respond(t.Context(), conversation.Turn{Kind: conversation.TurnSpeech, Text: "Go on."}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(last) > remotebrain.MaxMessages+1000 || !strings.Contains(last, `"omitted":`) || !strings.Contains(last, `"Go on."`) {
		t.Errorf("the last request has %d bytes: %.200s", len(last), last)
	}
}
