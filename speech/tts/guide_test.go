package tts_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

func TestGuide(t *testing.T) {
	t.Parallel()
	guide := tts.NewGuide([]tts.Pronunciation{
		{Word: "API", Spoken: "A P I"},
		{Word: "api gateway", Spoken: "gate"},
		{Word: "US", Spoken: "U S", CaseSensitive: true},
		{Word: "high", Spoken: "hi", Inside: true},
		{Word: "Zoë", Spoken: "Zowee"},
		{Word: "&", Spoken: "and"},
		{Word: "hi", Spoken: "never twice"},
		{Word: "C++", Spoken: "see double plus"},
	})
	for text, want := range map[string]string{
		"":                                "",
		"The API, an api.":                "The A P I, an A P I.",
		"an API Gateway":                  "an gate",
		"APIs and rapid":                  "APIs and rapid",
		"The US told us.":                 "The U S told us.",
		"high hightop HIGH":               "hi hitop hi",
		"ZOË and Zoë's":                   "Zowee and Zowee's",
		"R&D & more":                      "RandD and more",
		"C++ or C+":                       "see double plus or C+",
		"broken \xff API":                 "broken \uFFFD A P I",
		strings.Repeat("API", 2) + " API": "APIAPI A P I",
	} {
		if got := guide.Rewrite(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := tts.NewGuide(nil).Rewrite("as it is \xff"); got != "as it is \xff" {
		t.Errorf("without words: %q", got)
	}
}

// TestGuideBoundsTheText checks that replacements never make a text longer than engines accept.
func TestGuideBoundsTheText(t *testing.T) {
	t.Parallel()
	guide := tts.NewGuide([]tts.Pronunciation{{Word: "a", Spoken: strings.Repeat("b", tts.MaxSpoken)}})
	got := guide.Rewrite(strings.Repeat("a ", 1000))
	if len(got) > tts.MaxText || !strings.HasSuffix(got, " a ") || !strings.HasPrefix(got, "bbb") {
		t.Errorf("%d bytes, ends with %q", len(got), got[len(got)-10:])
	}
}

func FuzzGuide(f *testing.F) {
	f.Add("The API of Zoë", "api", "A P I", true, false)
	f.Add("aaaa\xffa", "aa", "", false, true)
	f.Fuzz(func(t *testing.T, text, word, spoken string, exact, inside bool) {
		list := []tts.Pronunciation{{Word: word, Spoken: spoken, CaseSensitive: exact, Inside: inside}}
		if tts.CheckPronunciations("guide", list) != nil || len(text) > tts.MaxText {
			return
		}
		got := tts.NewGuide(list).Rewrite(text)
		if utf8.ValidString(text) && (!utf8.ValidString(got) || len(got) > tts.MaxText) {
			t.Errorf("%q became %q", text, got)
		}
		if exact && inside && utf8.ValidString(text) && len(got) < tts.MaxText-len(spoken) {
			if want := strings.ReplaceAll(text, strings.TrimSpace(word), spoken); got != want {
				t.Errorf("%q became %q, want %q", text, got, want)
			}
		}
	})
}

func TestCheckPronunciations(t *testing.T) {
	t.Parallel()
	good := tts.Pronunciation{Word: "API", Spoken: "A P I"}
	for field, list := range map[string][]tts.Pronunciation{
		"":                       {good, {Word: strings.Repeat("ö", 100), Spoken: strings.Repeat("ö", 200)}},
		"guide":                  make([]tts.Pronunciation, 1001),
		"guide ":                 slices.Repeat([]tts.Pronunciation{{Word: strings.Repeat("ö", 100), Spoken: "x"}}, 400),
		"guide[1].word":          {good, {Word: " ", Spoken: "x"}},
		"guide[0].word":          {{Word: strings.Repeat("x", 101), Spoken: "x"}},
		"guide[0].pronunciation": {{Word: "x"}},
		"guide[1].pronunciation": {good, {Word: "x", Spoken: strings.Repeat("x", 201)}},
	} {
		err := tts.CheckPronunciations("guide", list)
		e, _ := errors.AsType[*callwright.Error](err)
		if (err == nil) != (field == "") || field != "" && (e == nil || e.Field != strings.TrimSpace(field) || e.Code != callwright.CodeBadRequest) {
			t.Errorf("%q: %v", field, err)
		}
	}
}

// listener is a Synthesizer that stores its last request.
type listener struct{ request tts.Request }

func (l *listener) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	l.request = r
	return tts.Samples(ctx, nil), nil
}

func TestStyled(t *testing.T) {
	t.Parallel()
	engine := &listener{}
	if tts.Styled(engine, tts.Prosody{}, nil) != tts.Synthesizer(engine) {
		t.Error("an engine without a style is wrapped")
	}
	s := tts.Styled(engine, tts.Prosody{Tempo: 1.5}, tts.NewGuide([]tts.Pronunciation{{Word: "API", Spoken: "A P I"}}))
	for _, c := range []struct{ given, want tts.Prosody }{
		{tts.Prosody{}, tts.Prosody{Tempo: 1.5}},
		{tts.Prosody{Pitch: 0.8, Tempo: 1.2}, tts.Prosody{Pitch: 0.8, Tempo: 1.2 * 1.5}},
		{tts.Prosody{Tempo: 1.9}, tts.Prosody{Tempo: tts.MaxFactor}},
	} {
		if _, err := s.Synthesize(t.Context(), tts.Request{Text: "The API.", Rate: 8000, Prosody: c.given}); err != nil {
			t.Fatal(err)
		}
		if engine.request.Text != "The A P I." || math.Abs(engine.request.Prosody.Tempo-c.want.Tempo) > 1e-9 ||
			engine.request.Prosody.Pitch != c.want.Pitch {
			t.Errorf("the engine got %+v, want %+v", engine.request, c.want)
		}
	}
	if _, err := s.Synthesize(t.Context(), tts.Request{Text: "x", Rate: 1}); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("a wrong rate: %v", err)
	}
}
