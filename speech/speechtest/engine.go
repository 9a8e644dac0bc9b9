package speechtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// EngineHarness contains the constructor of the engine under test, and the engine's deviations from the defaults.
type EngineHarness struct {
	// New returns a new engine, and registers the engine's cleanup with t.Cleanup.
	New func(t *testing.T) tts.Engine
	// Unchecked states that CheckVoice accepts every voice and language, because only Synthesize can check them. Synthesize must
	// still refuse an unknown voice.
	Unchecked bool
	// Features describes how the engine deviates from the defaults.
	Features SpeechFeatures
}

// maxTried is the maximum number of an engine's voices whose speech the suite tests.
const maxTried = 5

// engine is the engine under test and its features.
type engine struct {
	tts.Engine
	SpeechFeatures

	unchecked bool
}

// engineTests contains the tests of RunEngine.
var engineTests = slices.Concat(asEngine(synthesizerTests), suite[engine]{
	{"description", describes},
	{"checks voices", checksVoices},
	{"its voices speak", voicesSpeak},
	{"prosody", appliesProsody},
})

// asEngine converts tests of a synthesizer to tests of an engine. They use a voice other than the default, if the engine has one.
func asEngine(tests suite[synthesizer]) (all suite[engine]) {
	for _, test := range tests {
		all = append(all, struct {
			name string
			run  func(reporter, engine)
		}{test.name, func(t reporter, e engine) {
			voice, d := "", e.Describe()
			for _, name := range d.Names() {
				if name != d.Default {
					voice = name
				}
			}
			test.run(t, synthesizer{e.Engine, e.SpeechFeatures, voice, false})
		}})
	}
	return all
}

// RunEngine tests a tts.Engine: it runs the tests of RunSynthesizer, and tests the description, CheckVoice, the speech of up to 5 voices,
// and the length of speech with a Prosody. It must not run in parallel with other tests.
func RunEngine(t *testing.T, h EngineHarness) {
	t.Helper()
	f := h.Features.withDefaults()
	engineTests.oneByOne(t, f.Patience, func(t *testing.T) engine {
		t.Helper()
		return engine{h.New(t), f, h.Unchecked}
	})
}

func describes(t reporter, e engine) {
	d := e.Describe()
	if d.Name == "" || len(d.Voices) == 0 {
		t.Fatalf("an engine %q with %d voices", d.Name, len(d.Voices))
	}
	seen := map[string]bool{}
	for _, v := range d.Voices {
		name := strings.ToLower(v.Name)
		if name == "" || seen[name] || strings.ContainsFunc(v.Name, callwright.Hidden) {
			t.Errorf("voice %q: want names that are unique and can be read", v.Name)
		}
		seen[name] = true
	}
	if !slices.Contains(d.Names(), d.Default) {
		t.Errorf("the default voice %q is not among %v", d.Default, d.Names())
	}
}

func checksVoices(t reporter, e engine) {
	for _, name := range append(e.Describe().Names(), "") {
		if err := e.CheckVoice(name, ""); err != nil {
			t.Errorf("voice %q: %v", name, err)
		}
	}
	if e.unchecked {
		return
	}
	for _, c := range []struct{ voice, language string }{
		{"no-such-voice", ""}, {"", "en"}, {"", "en-US"}, {"", "zz"}, {e.Describe().Default, "en"}, {"-version", "en"},
	} {
		checked := e.CheckVoice(c.voice, c.language)
		speech := tts.Request{Text: e.Short, Voice: c.voice, Language: c.language, Rate: 8000}
		_, err := speak(t.Context(), e, speech, mostOf(speech))
		if callwright.CodeOf(checked) != callwright.CodeOf(err) {
			t.Errorf("voice %q, language %q: CheckVoice gives %v, Synthesize %v", c.voice, c.language, checked, err)
		}
	}
}

func voicesSpeak(t reporter, e engine) {
	names := e.Describe().Names()
	for _, name := range names[:min(maxTried, len(names))] {
		if level(say(t, e, tts.Request{Text: e.Short, Voice: name, Rate: 8000})) < 0.005 {
			t.Errorf("voice %q is silent", name)
		}
	}
}

// appliesProsody checks the factors of a Prosody by the length of the speech. The factor of the tempo must scale the length if the engine
// declares a tempo, and must hardly change it otherwise. The factor of the pitch must hardly change the length. Factors out of range must
// be refused.
func appliesProsody(t reporter, e engine) {
	d := e.Describe()
	length := func(p tts.Prosody) float64 {
		return float64(len(say(t, e, tts.Request{Text: e.Long, Rate: 8000, Prosody: p})))
	}
	own := length(tts.Prosody{})
	if got := length(tts.Prosody{Pitch: 1, Tempo: 1}); got < 0.98*own || got > 1.02*own {
		t.Errorf("factors of 1 change the length by %.2f", got/own)
	}
	for _, factor := range []float64{0.8, 1.25} {
		want := 1.0
		if d.Tempo {
			want = 1 / factor
		}
		if got := length(tts.Prosody{Tempo: factor}) / own; got < want*0.9 || got > want*1.1 {
			t.Errorf("the tempo %g makes it %.2f times as long, want %.2f", factor, got, want)
		}
		if got := length(tts.Prosody{Pitch: factor}) / own; got < 0.9 || got > 1.1 {
			t.Errorf("the pitch %g makes it %.2f times as long", factor, got)
		}
	}
	for _, p := range []tts.Prosody{{Pitch: 0.1}, {Tempo: 5}} {
		speech := tts.Request{Text: e.Short, Rate: 8000, Prosody: p}
		if _, err := speak(t.Context(), e, speech, mostOf(speech)); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
