package remotebrain

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// duty is one duty of a service. check returns nil if the duty holds.
type duty struct {
	name  string
	check func(k *checker, ctx context.Context) error
}

// duties contains all duties in the order in which they are checked.
var duties = []duty{
	{"speaks-first", (*checker).speaksFirst},
	{"takes-a-greeting", (*checker).takesGreeting},
	{"takes-every-turn", (*checker).takesEveryTurn},
	{"ends-its-answers", (*checker).endsAnswers},
	{"survives-a-stop", (*checker).survivesStop},
	{"serves-side-by-side", (*checker).servesSideBySide},
	{"takes-a-repetition", (*checker).takesRepetition},
	{"ignores-unknown-members", (*checker).ignoresUnknown},
	{"takes-a-long-conversation", (*checker).takesLong},
	{"leaves-no-trace", (*checker).leavesNoTrace},
	{"continues-when-certain", (*checker).continues},
	{"refuses-a-wrong-signature", (*checker).refusesForged},
	{"refuses-an-old-message", (*checker).refusesOld},
}

// checker holds conversations with a service.
type checker struct{ cfg CheckConfig }

var (
	begin = conversation.Turn{Kind: conversation.TurnStart}
	greet = conversation.Turn{Kind: conversation.TurnSpeech, Text: "Hello."}
)

// brain begins a conversation.
func (k *checker) brain() *Brain {
	b, _ := New(Config{ // all required fields are set
		Sender: k.cfg.Sender, URL: k.cfg.URL, Org: k.cfg.Org, Conversation: "check-" + k.cfg.IDs.New(), Language: "en",
		From: "+14155550100", To: "+14155550101", Direction: Inbound, TransferTo: "+14155550102", Runtime: k.cfg.Runtime,
	})
	return b
}

// answerOf returns the steps of an answer, and its words.
func answerOf(ctx context.Context, b *Brain, t conversation.Turn) (steps []string, words string, err error) {
	var said []string
	for step, fault := range b.Respond(ctx, t) {
		if fault != nil {
			return steps, "", fmt.Errorf("a turn of kind %s: %w", t.Kind, fault)
		}
		if say, ok := step.(conversation.Say); ok {
			said = append(said, say.Text)
		}
		steps = append(steps, fmt.Sprintf("%#v", step))
	}
	return steps, strings.Join(said, " "), ctx.Err()
}

// talk holds a conversation, and returns its brain. It stops after an answer that ends the conversation.
func (k *checker) talk(ctx context.Context, turns ...conversation.Turn) (*Brain, error) {
	b := k.brain()
	for _, t := range turns {
		steps, _, err := answerOf(ctx, b, t)
		if err != nil {
			return nil, err
		}
		if over(steps) {
			break
		}
	}
	return b, nil
}

// over reports whether steps end a conversation.
func over(steps []string) bool {
	return slices.ContainsFunc(steps, func(s string) bool {
		return strings.HasPrefix(s, fmt.Sprintf("%T{", conversation.End{})) || strings.HasPrefix(s, fmt.Sprintf("%T{", conversation.Transfer{}))
	})
}

func (k *checker) speaksFirst(ctx context.Context) error {
	_, words, err := answerOf(ctx, k.brain(), begin)
	if err == nil && words == "" {
		err = errors.New("the first answer has no words")
	}
	return err
}

func (k *checker) takesGreeting(ctx context.Context) error {
	_, words, err := answerOf(ctx, k.brain(), greet)
	if err == nil && words == "" {
		err = errors.New("the first answer has no words if the caller speaks first")
	}
	return err
}

func (k *checker) takesEveryTurn(ctx context.Context) error {
	for _, t := range []conversation.Turn{
		greet,
		{Kind: conversation.TurnSpeech}, // no word was understood
		{Kind: conversation.TurnDigits, Text: "12"},
		{Kind: conversation.TurnSilence},
		begin, // a transfer has failed
		{Kind: conversation.TurnSpeech, Text: "No.", Interrupted: true},
		{Kind: conversation.TurnDigits, Text: "3", Interrupted: true, Heard: "Never said"},
	} {
		if _, err := k.talk(ctx, begin, t); err != nil {
			return err
		}
	}
	return nil
}

// post sends a request of a conversation's first turn, changed by a function, and returns the body of the answer.
func (k *checker) post(ctx context.Context, s Sender, change func(members map[string]any)) (io.ReadCloser, error) {
	members := map[string]any{
		"protocol": Protocol, "conversation": "check-" + k.cfg.IDs.New(), "early": false, "messages": []Message{}, "variables": map[string]any{},
		"turn": map[string]any{"number": 1, "kind": "start", "text": "", "interrupted": false}, "language": "en",
	}
	if change != nil {
		change(members)
	}
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return s.Stream(ctx, k.cfg.Org, k.cfg.IDs.New(), k.cfg.URL, body)
}

// answers sends a request like post, and checks every line of the answer.
func (k *checker) answers(ctx context.Context, change func(members map[string]any)) error {
	ctx, cancel := context.WithTimeout(ctx, firstLine+nextLine)
	defer cancel()
	body, err := k.post(ctx, k.cfg.Sender, change)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, MaxLine)
	ended := false
	for number := 1; lines.Scan(); number++ {
		line, err := parse(lines.Bytes())
		switch {
		case err != nil:
			return fmt.Errorf("line %d: %w", number, err)
		case ended && line.Type != "":
			return fmt.Errorf("line %d follows the last line", number)
		case line.Type == LineError:
			return errors.New("it reports an error: " + line.failure())
		}
		ended = ended || line.last()
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the stream does not end: %w", err)
	}
	if !ended {
		return errors.New("the answer has no last line: done, commit, transfer, end or error")
	}
	return nil
}

func (k *checker) endsAnswers(ctx context.Context) error { return k.answers(ctx, nil) }

// survivesStop stops an answer at its first step, as the conversation does when the caller interrupts.
func (k *checker) survivesStop(ctx context.Context) error {
	b := k.brain()
	for _, err := range b.Respond(ctx, begin) {
		if err != nil {
			return err
		}
		break
	}
	_, _, err := answerOf(ctx, b, conversation.Turn{Kind: conversation.TurnSpeech, Text: "Hello.", Interrupted: true})
	return err
}

// servesSideBySide holds one conversation while the answer of another one is not read to its end.
func (k *checker) servesSideBySide(ctx context.Context) error {
	body, err := k.post(ctx, k.cfg.Sender, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = k.talk(ctx, begin, greet)
	return err
}

// takesRepetition sends the same turn twice, as after a connection that failed.
func (k *checker) takesRepetition(ctx context.Context) error {
	id := "check-" + k.cfg.IDs.New()
	for range 2 {
		if err := k.answers(ctx, func(members map[string]any) { members["conversation"] = id }); err != nil {
			return fmt.Errorf("of two equal requests: %w", err)
		}
	}
	return nil
}

func (k *checker) ignoresUnknown(ctx context.Context) error {
	return k.answers(ctx, func(members map[string]any) {
		members["future"] = map[string]any{"member": true}
		if turn, ok := members["turn"].(map[string]any); ok {
			turn["future"] = 1
		}
	})
}

// takesLong sends a request with the longest messages.
func (k *checker) takesLong(ctx context.Context) error {
	list, text := []Message{}, string(bytes.Repeat([]byte("word "), 200))
	for len(list)*len(text) < MaxMessages-10*len(text) {
		list = append(list, Message{RoleAgent, text}, Message{RoleCaller, text})
	}
	return k.answers(ctx, func(members map[string]any) {
		members["messages"], members["omitted"] = list, 10
		members["turn"] = map[string]any{"number": len(list), "kind": "speech", "text": text, "interrupted": false}
	})
}

// doubt is the time for which an early turn stays uncertain.
const doubt = 500 * time.Millisecond

// early begins a conversation with a service that answers early turns, and returns its brain.
func (k *checker) early(ctx context.Context) (*Brain, error) {
	b, err := k.talk(ctx, begin)
	if err == nil && !b.early {
		err = unchecked("it does not answer early turns: its first answer does not end with early: true")
	}
	return b, err
}

// certainly returns the steps of the answers to a turn and the following one, in a new conversation.
func (k *checker) certainly(ctx context.Context, turns ...conversation.Turn) (all []string, err error) {
	b, err := k.talk(ctx, begin)
	for _, t := range turns {
		var steps []string
		if err == nil && !over(all) {
			steps, _, err = answerOf(ctx, b, t)
		}
		all = append(all, steps...)
	}
	return all, err
}

var (
	broken = conversation.Turn{Kind: conversation.TurnSpeech, Text: "My number is four one five."}
	whole  = conversation.Turn{Kind: conversation.TurnSpeech, Text: "My number is four one five, five six seven, oh one double two."}
	after  = conversation.Turn{Kind: conversation.TurnSpeech, Text: "No."}
)

// leavesNoTrace begins an early answer, withdraws it, and compares the following answers with those of a conversation without it.
func (k *checker) leavesNoTrace(ctx context.Context) error {
	b, err := k.early(ctx)
	if err != nil {
		return err
	}
	withdrawn := broken
	withdrawn.Early = new(conversation.Early)
	timer := time.AfterFunc(doubt, func() { withdrawn.Early.Decide(false) })
	defer timer.Stop()
	if _, _, err := answerOf(ctx, b, withdrawn); err != nil {
		return err
	}
	var got []string
	for _, t := range []conversation.Turn{whole, after} {
		steps, _, err := answerOf(ctx, b, t)
		if err != nil {
			return err
		}
		if got = append(got, steps...); over(got) {
			break
		}
	}
	return k.same(ctx, got, whole, after)
}

// same compares steps with those of a conversation with the same turns, if the service answers equal turns equally.
func (k *checker) same(ctx context.Context, got []string, turns ...conversation.Turn) error {
	want, err := k.certainly(ctx, turns...)
	if err != nil || slices.Equal(got, want) {
		return err
	}
	again, err := k.certainly(ctx, turns...)
	switch {
	case err != nil:
		return err
	case !slices.Equal(want, again):
		return unchecked("it answers equal turns differently, so that traces cannot be seen")
	default:
		return fmt.Errorf("the answers are %s, and without the early turn %s", strings.Join(got, " "), strings.Join(want, " "))
	}
}

// continues lets an early turn become certain, and compares its answer with one that was certain from the start.
func (k *checker) continues(ctx context.Context) error {
	b, err := k.early(ctx)
	if err != nil {
		return err
	}
	certain := whole
	certain.Early = new(conversation.Early)
	timer := time.AfterFunc(doubt, func() { certain.Early.Decide(true) })
	defer timer.Stop()
	got, _, err := answerOf(ctx, b, certain)
	if err != nil {
		return err
	}
	return k.same(ctx, got, whole)
}

// refusal checks that the service refuses a request of a Sender, which has the fault that the parameter what describes.
func (k *checker) refusal(ctx context.Context, s Sender, what string) error {
	if s == nil {
		return unchecked("the check does not know the secret")
	}
	body, err := k.post(ctx, s, nil)
	switch {
	case err == nil:
		_ = body.Close()
		return fmt.Errorf("it answers a request with %s: answer it with status 401", what)
	case callwright.CodeOf(err) != callwright.CodeForbidden:
		return fmt.Errorf("it answers a request with %s with another error than 401: %w", what, err)
	}
	return nil
}

func (k *checker) refusesForged(ctx context.Context) error {
	return k.refusal(ctx, k.cfg.Forged, "a wrong signature")
}

func (k *checker) refusesOld(ctx context.Context) error {
	return k.refusal(ctx, k.cfg.Old, "a time of an hour ago")
}
