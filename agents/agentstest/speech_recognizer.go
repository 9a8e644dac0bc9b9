package agentstest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/callwrighttest"
)

// RecognizerHarness is the harness of RunRecognizer. New and Speak are required.
type RecognizerHarness struct {
	// New returns a recognizer. It uses t.Cleanup to free the recognizer's resources.
	New func(t *testing.T) conversation.Recognizer
	// Speak returns speech that the recognizer should understand. Use telephone quality, and preferably a synthesizer that the recognizer
	// was not trained with.
	Speak func(t *testing.T, text string) (audio []int16, rate int)
	// Words is the minimum share of a sentence's words that the recognizer must understand in order, from 0 to 1. Additional words reduce
	// the share. 0 means all words.
	Words float64
	// Sentences lists at least two short sentences with different words, in Language. If nil, the suite uses five English sentences.
	Sentences []string
	// Number is a number of a few digits, in words of Language that Speak can speak. If it is empty, the suite uses an English number.
	Number string
	// Short lists at least two short utterances with different words, in Language, that are neither consent nor refusal. If nil, the suite
	// uses English utterances.
	Short []string
	// Language is the language of the sentences as a BCP 47 tag. Empty means "en-US".
	Language string
}

// withDefaults returns h with the default values of Words, Number, Short, Language and Sentences where they are not set.
func (h RecognizerHarness) withDefaults() RecognizerHarness {
	h.Words, h.Language = cmp.Or(h.Words, 1), cmp.Or(h.Language, "en-US")
	h.Number = cmp.Or(h.Number, "nine seven three")
	if h.Short == nil {
		h.Short = []string{"Hello.", "Excuse me.", "Seven.", "Thursday."}
	}
	if h.Sentences == nil {
		h.Sentences = []string{
			"Yes, please.",
			"I would like to talk about my last bill.",
			"Please connect me with a colleague of yours.",
			"My appointment is on Tuesday at half past nine.",
			"No, thank you. Goodbye.",
		}
	}
	return h
}

// unknown contains a word that no dictionary contains.
const unknown = "Where is the zxqvbrtl?"

// RunRecognizer tests a conversation.Recognizer, also with hints, silence and canceled contexts. RunRecognizer must not run in parallel
// with other tests. The recognizer must understand each sentence, to the share RecognizerHarness.Words, when Hearing.Phrases contains all
// sentences, even if several sentences are spoken concurrently. It must understand all digits of RecognizerHarness.Number when
// Hearing.Expect asks for digits, and no fewer words of a sentence or of a short utterance when Hearing.Expect is wrong. It must not
// replace a sentence or a short utterance by a phrase that was not spoken.
func RunRecognizer(t *testing.T, h RecognizerHarness) {
	t.Helper()
	h = h.withDefaults()
	for name, run := range map[string]func(*testing.T, RecognizerHarness){
		"understands what is expected":    understandsExpected,
		"pieces make no difference":       piecesMakeNoDifference,
		"a hint that does not come true":  hintsAreHints,
		"hints nobody can pronounce":      oddHints,
		"an expected number":              understandsNumber,
		"another answer than expected":    expectationsAreHints,
		"keywords":                        oddKeywords,
		"nothing said":                    nothingSaid,
		"ends with the context of Listen": endsWithListen,
		"ends with the context of Finish": endsWithFinish,
		"close":                           closesUtterance,
		"side by side":                    listensSideBySide,
		"rates that do not exist":         refusesRates,
		"an organization's recognizer":    recognizesForOrganizations,
	} {
		callwrighttest.Sequential(t, name, func(t *testing.T) { run(t, h) })
	}
}

// listen recognizes the audio as one utterance, and returns its text.
func listen(t *testing.T, r conversation.Recognizer, audio []int16, h conversation.Hearing) string {
	t.Helper()
	u, err := r.Listen(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = u.Close() }()
	if err := u.Write(audio); err != nil {
		t.Fatal(err)
	}
	heard, err := u.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if heard.Confidence < 0 || heard.Confidence > 1 {
		t.Errorf("confidence %v", heard.Confidence)
	}
	return heard.Text
}

// understands reports whether the share of a prompt's words that were understood is at least Words. Nothing is understood of silence.
func (h RecognizerHarness) understands(prompt, heard string) bool {
	if words(prompt) == "" {
		return words(heard) == ""
	}
	return understood(prompt, heard) >= h.Words
}

// understood returns the share of a prompt's words that were heard in order. Additional words reduce the share.
func understood(prompt, heard string) float64 {
	said, got := strings.Fields(words(prompt)), strings.Fields(words(heard))
	before := make([]int, len(got)+1) // lengths of the longest common subsequences with the prompt's words so far
	for _, word := range said {
		now := make([]int, len(got)+1)
		for i, other := range got {
			now[i+1] = max(now[i], before[i+1])
			if word == other {
				now[i+1] = before[i] + 1
			}
		}
		before = now
	}
	return float64(before[len(got)]) / float64(max(len(said), len(got), 1))
}

func understandsExpected(t *testing.T, h RecognizerHarness) {
	r := h.New(t)
	for _, prompt := range h.Sentences {
		audio, rate := h.Speak(t, prompt)
		heard := listen(t, r, audio, conversation.Hearing{Rate: rate, Language: h.Language, Phrases: h.Sentences})
		if !h.understands(prompt, heard) {
			t.Errorf("%q is understood as %q", prompt, heard)
		}
	}
}

// recognizesForOrganizations checks that the recognizers of two organizations recognize like the recognizer, if it has any.
func recognizesForOrganizations(t *testing.T, h RecognizerHarness) {
	shared, ok := h.New(t).(conversation.OrgRecognizers)
	if !ok {
		return
	}
	audio, rate := h.Speak(t, h.Sentences[0])
	for _, org := range []callwright.OrgID{"a", "b"} {
		heard := listen(t, shared.RecognizerOf(org), audio, conversation.Hearing{Rate: rate, Language: h.Language, Phrases: h.Sentences})
		if !h.understands(h.Sentences[0], heard) {
			t.Errorf("%s: %q is understood as %q", org, h.Sentences[0], heard)
		}
	}
}

func piecesMakeNoDifference(t *testing.T, h RecognizerHarness) {
	audio, rate := h.Speak(t, h.Sentences[1])
	u, err := h.New(t).Listen(t.Context(), conversation.Hearing{Rate: rate, Language: h.Language, Phrases: h.Sentences})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = u.Close() }()
	piece := make([]int16, 0, 161)
	for part := range slices.Chunk(audio, cap(piece)) {
		piece = append(piece[:0], part...)
		if err := u.Write(piece); err != nil {
			t.Fatal(err)
		}
		clear(piece) // fails if the recognizer keeps a reference
	}
	if heard, err := u.Finish(t.Context()); err != nil || !h.understands(h.Sentences[1], heard.Text) {
		t.Errorf("%q in pieces is understood as %q, %v", h.Sentences[1], heard.Text, err)
	}
}

func hintsAreHints(t *testing.T, h RecognizerHarness) {
	r := h.New(t)
	for i, prompt := range h.Sentences {
		others := slices.Delete(slices.Clone(h.Sentences), i, i+1)
		audio, rate := h.Speak(t, prompt)
		heard := listen(t, r, audio, conversation.Hearing{Rate: rate, Language: h.Language, Phrases: others})
		if slices.ContainsFunc(others, func(other string) bool { return words(other) == words(heard) }) {
			t.Errorf("%q is understood as the hint %q", prompt, heard)
		}
	}
}

// oddTexts are hints that no recognizer can use.
var oddTexts = []string{"", "   ", unknown, "<s>", "a | b ; public <c> = d", "$(id)", "line\nbreak", "你好", "\x00", "\xff"}

func oddHints(t *testing.T, h RecognizerHarness) {
	odd := slices.Clone(oddTexts)
	audio, rate := h.Speak(t, h.Sentences[0])
	heard := listen(t, h.New(t), audio, conversation.Hearing{Rate: rate, Language: h.Language, Phrases: append(odd, h.Sentences[0])})
	if !h.understands(h.Sentences[0], heard) {
		t.Errorf("%q is understood as %q", h.Sentences[0], heard)
	}
	listen(t, h.New(t), audio, conversation.Hearing{Rate: rate, Language: h.Language, Phrases: odd})
}

func understandsNumber(t *testing.T, h RecognizerHarness) {
	audio, rate := h.Speak(t, h.Number)
	heard := listen(t, h.New(t), audio, conversation.Hearing{Rate: rate, Language: h.Language, Expect: expect.Answer{Kind: expect.Digits}})
	if got, want := expect.DigitsIn(h.Language, heard), expect.DigitsIn(h.Language, h.Number); got != want {
		t.Errorf("%q is understood as %q, with the digits %s, want %s", h.Number, heard, got, want)
	}
}

// kinds lists the kinds of expected answers, and an unknown kind.
var kinds = []expect.Kind{expect.Digits, expect.Spelling, expect.YesNo, expect.Date, expect.Email, expect.Address, "unknown"}

func expectationsAreHints(t *testing.T, h RecognizerHarness) {
	r := h.New(t)
	for _, prompt := range append([]string{h.Sentences[1]}, h.Short...) {
		audio, rate := h.Speak(t, prompt)
		free := listen(t, r, audio, conversation.Hearing{Rate: rate, Language: h.Language})
		for _, kind := range kinds {
			heard := listen(t, r, audio, conversation.Hearing{
				Rate: rate, Language: h.Language, Expect: expect.Answer{Kind: kind, Min: 4, Max: 2},
			})
			if understood(prompt, heard) < understood(prompt, free) {
				t.Errorf("%q is understood as %q if %q is expected, and else as %q", prompt, heard, kind, free)
			}
		}
	}
}

func oddKeywords(t *testing.T, h RecognizerHarness) {
	audio, rate := h.Speak(t, h.Sentences[0])
	heard := listen(t, h.New(t), audio, conversation.Hearing{
		Rate: rate, Language: h.Language, Phrases: h.Sentences, Keywords: append(slices.Clone(oddTexts), "Callwright", "new york"),
	})
	if !h.understands(h.Sentences[0], heard) {
		t.Errorf("%q is understood as %q", h.Sentences[0], heard)
	}
}

func nothingSaid(t *testing.T, h RecognizerHarness) {
	_, rate := h.Speak(t, h.Sentences[0])
	for _, samples := range []int{0, 1, rate} {
		for _, phrases := range [][]string{nil, h.Sentences} {
			heard := listen(t, h.New(t), make([]int16, samples), conversation.Hearing{Rate: rate, Language: h.Language, Phrases: phrases})
			if words(heard) != "" {
				t.Errorf("%q is understood from %d silent samples", heard, samples)
			}
		}
		heard := listen(t, h.New(t), make([]int16, samples), conversation.Hearing{
			Rate: rate, Language: h.Language, Expect: expect.Answer{Kind: expect.Digits},
		})
		if words(heard) != "" {
			t.Errorf("%q is understood from %d silent samples if digits are expected", heard, samples)
		}
	}
}

func endsWithListen(t *testing.T, h RecognizerHarness) {
	audio, rate := h.Speak(t, h.Sentences[1])
	ctx, cancel := context.WithCancel(t.Context())
	u, err := h.New(t).Listen(ctx, conversation.Hearing{Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = u.Close() }()
	if err := u.Write(audio); err != nil {
		t.Fatal(err)
	}
	cancel()
	callwrighttest.Soon(t, "finishing after the context of Listen has ended", func() {
		if heard, err := u.Finish(t.Context()); err == nil {
			t.Errorf("%q is understood after the context of Listen has ended", heard.Text)
		}
	})
}

func endsWithFinish(t *testing.T, h RecognizerHarness) {
	audio, rate := h.Speak(t, h.Sentences[1])
	u, err := h.New(t).Listen(t.Context(), conversation.Hearing{Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = u.Close() }()
	if err := u.Write(audio); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	callwrighttest.Soon(t, "finishing with an ended context", func() {
		if heard, err := u.Finish(ctx); err == nil {
			t.Errorf("%q is understood with an ended context", heard.Text)
		}
	})
}

func closesUtterance(t *testing.T, h RecognizerHarness) {
	audio, rate := h.Speak(t, h.Sentences[0])
	for _, finished := range []bool{false, true} {
		u, err := h.New(t).Listen(t.Context(), conversation.Hearing{Rate: rate, Language: h.Language, Phrases: h.Sentences})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Write(audio); err != nil {
			t.Fatal(err)
		}
		if finished {
			if _, err := u.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(u.Close(), u.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func listensSideBySide(t *testing.T, h RecognizerHarness) {
	r := h.New(t)
	var all sync.WaitGroup
	for _, prompt := range h.Sentences {
		audio, rate := h.Speak(t, prompt)
		all.Go(func() {
			u, err := r.Listen(t.Context(), conversation.Hearing{Rate: rate, Language: h.Language, Phrases: h.Sentences})
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = u.Close() }()
			err = u.Write(audio)
			heard, finished := u.Finish(t.Context())
			if err = errors.Join(err, finished); err != nil || !h.understands(prompt, heard.Text) {
				t.Errorf("%q beside others is understood as %q, %v", prompt, heard.Text, err)
			}
		})
	}
	all.Wait()
}

func refusesRates(t *testing.T, h RecognizerHarness) {
	for _, rate := range []int{-8000, 0, 1 << 30} {
		u, err := h.New(t).Listen(t.Context(), conversation.Hearing{Rate: rate})
		if err == nil {
			_ = u.Close()
		}
		if callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("rate %d: error %v", rate, err)
		}
	}
}
