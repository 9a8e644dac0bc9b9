// Package checkup asks engines a small thing each, so that a mistake in their configuration is found before the first call: language models,
// voices and recognizers.
package checkup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// Report is the result of the check of one engine.
type Report struct {
	Part    string        // "model", "voice" or "recognizer", and the name of a further model
	By      string        // the engine or the model
	First   time.Duration // until the first words, samples or the text; 0 if there were none
	Facts   []string      // human-readable
	Problem string        // human-readable; empty if the engine works
	Advice  string        // what to change; may be empty
}

// slow is the time until the first words of a reply, or until the text of an utterance, after which a caller notices a pause.
const slow = 1500 * time.Millisecond

// advice maps classes of failures to what to change.
var advice = map[llm.Class]string{
	llm.ClassPermanent:   "check the key, the base URL and the name of the model: the log names the status and the refused parameter",
	llm.ClassQuota:       "check the plan and the billing of the account with the service",
	llm.ClassRateLimited: "request a higher limit of requests from the service, or configure a second model",
	llm.ClassTransient:   "check that the service runs at the base URL, and that this machine reaches it: the log names the status, if it has answered",
	llm.ClassTooLong:     "configure a model with a longer context",
	llm.ClassInvalid:     "configure a model that writes JSON as it is asked to",
	llm.ClassUnsupported: "configure a language model",
}

// Model asks a model for a greeting, and to choose one of two options. asked is the name of a model in requests, and empty for the default.
func Model(ctx context.Context, m llm.Model, asked string, clock callwright.Clock) Report {
	name, _ := llm.NameOf(m, asked)
	r := Report{Part: strings.TrimSpace("model " + asked), By: name}
	if limits := llm.Unfollowed(m, asked, ""); limits != "" {
		r.Facts, r.Advice = append(r.Facts, limits), advice[llm.ClassUnsupported]
		return r
	}
	start := clock.Now()
	var usage *llm.Usage
	for part, err := range m.Reply(ctx, llm.ReplyRequest{Instructions: "Greet the caller in one short sentence.", Language: "en-US", Model: asked}) {
		if err != nil {
			return r.failed("no reply: ", err)
		}
		if r.First == 0 && part.Text != "" {
			r.First = max(clock.Now().Sub(start), 1)
		}
		if part.Model != "" && part.Model != name {
			r.Problem, r.Advice = "the model "+part.Model+" has replied instead: "+llm.Reason(&llm.Failure{Class: part.Cause}), advice[part.Cause]
		}
		usage = part.Usage
	}
	if usage == nil {
		r.Facts = append(r.Facts, "counts no tokens")
	}
	start = clock.Now()
	options := []llm.Option{{ID: "yes", Label: "the caller agrees"}, {ID: "no", Label: "the caller refuses"}}
	choice, _, err := llm.Choose(ctx, m, llm.Question{Model: asked, Options: options, Messages: []llm.Message{{Role: llm.RoleCaller, Text: "Yes, please."}}})
	switch {
	case err != nil && r.Problem != "": // the model that replied instead has failed, too
		r.Problem += "; no choice: " + llm.Reason(err)
		return r
	case err != nil:
		return r.failed("no choice: ", err)
	}
	r.Facts = append(r.Facts, "chooses in "+round(clock.Now().Sub(start)))
	switch {
	case choice.Option != "yes":
		r.Problem, r.Advice = "chose the wrong one of two options", "configure a stronger model for routing"
	case r.First > slow && r.Advice == "":
		r.Advice = "replies begin late: configure a faster model, or one in a region nearby"
	}
	return r
}

// failed returns the report with a problem.
func (r Report) failed(what string, err error) Report {
	r.Problem, r.Advice = what+llm.Reason(err), advice[llm.ClassOf(err)]
	return r
}

// Rate is the sample rate of the audio of Voice and Recognizer in Hz, the one of telephones.
const Rate = 8000

// sentence is what a voice speaks.
const sentence = "Good morning, how can I help you?"

// leastSpeech and leastPeak are the shortest and the quietest audio of the sentence.
const (
	leastSpeech = 500 * time.Millisecond
	leastPeak   = 500
)

// Voice lets a voice speak a sentence, and returns its samples at Rate.
func Voice(ctx context.Context, e tts.Engine, clock callwright.Clock) (Report, []int16) {
	r := Report{Part: "voice", By: e.Describe().Name}
	start := clock.Now()
	stream, err := e.Synthesize(ctx, tts.Request{Text: sentence, Rate: Rate, Language: "en-US"})
	if err != nil {
		r.Problem = callwright.MessageOf(err)
		return r, nil
	}
	defer func() { _ = stream.Close() }()
	var speech []int16
	for p := make([]int16, Rate/50); err == nil; {
		var n int
		if n, err = stream.Read(p); n > 0 && r.First == 0 {
			r.First = max(clock.Now().Sub(start), 1)
		}
		speech = append(speech, p[:n]...)
	}
	length := time.Duration(len(speech)) * time.Second / Rate
	r.Facts = append(r.Facts, fmt.Sprintf("%s of speech in %s", round(length), round(clock.Now().Sub(start))))
	var peak int16
	for _, s := range speech {
		peak = max(peak, s, -max(s, -32767))
	}
	switch {
	case !errors.Is(err, io.EOF):
		r.Problem = callwright.MessageOf(err)
	case length < leastSpeech || peak < leastPeak:
		r.Problem, r.Advice = "the speech is too short or silent", "check the voice, its language and the format that the service sends"
	}
	return r, speech
}

// Recognizer lets a recognizer hear audio at Rate, which may be that of Voice. Without samples, it hears a second of silence.
func Recognizer(ctx context.Context, e conversation.Recognizer, by string, samples []int16, clock callwright.Clock) Report {
	r := Report{Part: "recognizer", By: by}
	if len(samples) == 0 {
		samples = make([]int16, Rate)
	}
	u, err := e.Listen(ctx, conversation.Hearing{Rate: Rate, Language: "en-US"})
	if err != nil {
		r.Problem = callwright.MessageOf(err)
		return r
	}
	defer func() { _ = u.Close() }()
	if err := u.Write(samples); err != nil {
		r.Problem = callwright.MessageOf(err)
		return r
	}
	start := clock.Now()
	heard, err := u.Finish(ctx)
	if err != nil {
		r.Problem = callwright.MessageOf(err)
		return r
	}
	r.First = max(clock.Now().Sub(start), 1)
	r.Facts = append(r.Facts, fmt.Sprintf("heard %q", callwright.Clip(heard.Text, 200)))
	_, streams := e.(conversation.Streamer)
	switch {
	case streams:
		r.Facts = append(r.Facts, "hears while the caller speaks")
	case r.First > slow:
		r.Advice = "texts come late: configure a recognizer that hears while the caller speaks"
	}
	return r
}

// round returns a duration in milliseconds, human-readable.
func round(d time.Duration) string { return d.Round(time.Millisecond).String() }
