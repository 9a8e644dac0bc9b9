package speech_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

func TestVoices(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		own := h.clone(org, " Robin Doe ")
		if own.Name != "Robin Doe" || own.Kind != speech.KindProfile || own.Public() || own.Base == "" || own.CreatedAt.IsZero() {
			t.Errorf("made is %+v", own)
		}
		list, err := h.Voices(t.Context(), org)
		if err != nil || len(list) != 4 || list[0].ID != own.ID || list[1].Name != "ada" || list[1].Kind != speech.KindBuiltIn || !list[1].Public() {
			t.Errorf("listed are %+v, %v", list, err)
		}
		for _, name := range []string{own.ID, "robin doe", "ROBIN DOE", " Robin Doe "} {
			if v, err := h.Voice(t.Context(), org, name); err != nil || v.ID != own.ID {
				t.Errorf("%q is %+v, %v", name, v, err)
			}
			_, err := h.Voice(t.Context(), other, name)
			wantError(t, "a foreign "+name, err, callwright.CodeNotFound, "")
		}
		if v, err := h.Voice(t.Context(), other, "Ada"); err != nil || v.ID != "ada" {
			t.Errorf("the engine's is %+v, %v", v, err)
		}
		if s := h.say(org, speech.Request{Text: greeting, Voice: "robin doe"}); s.Voice != own.ID {
			t.Errorf("the sample has the voice %q", s.Voice)
		}
		if spoken := h.engine.Requests(); spoken[0].Voice != own.Base || spoken[0].Prosody != own.Prosody {
			t.Errorf("asked for is %+v, the voice is %+v", spoken[0], own)
		}
	})
}

func TestRename(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		own, second := h.clone(org, "Robin"), h.clone(org, "Kim")
		h.clone(other, "Taken elsewhere")
		for _, name := range []string{"Robin Doe", "Taken elsewhere", "ROBIN", strings.Repeat("é", speech.MaxName)} {
			if v, err := h.Rename(t.Context(), org, own.ID, name); err != nil || v.Name != name {
				t.Errorf("renamed to %q: %+v, %v", name, v, err)
			}
		}
		for _, name := range []string{"", " ", strings.Repeat("é", speech.MaxName+1), "clone", "CLONE", "kim", "Ada", "a/b", "a\u202eb", own.ID, "..", ".", "a\x00"} {
			_, err := h.Rename(t.Context(), org, own.ID, name)
			wantError(t, name, err, callwright.CodeBadRequest, "name")
		}
		_, err := h.Rename(t.Context(), org, "ada", "Eve")
		wantError(t, "the engine's", err, callwright.CodeForbidden, "")
		_, err = h.Rename(t.Context(), other, second.ID, "Eve")
		wantError(t, "a foreign one", err, callwright.CodeNotFound, "")
		if v, err := h.Voice(t.Context(), org, own.ID); err != nil || v.Version != 5 {
			t.Errorf("after four changes it is %+v, %v", v, err)
		}
	})
}

// TestDelete checks that the samples of a deleted voice remain, and that calls with the voice are spoken by the default voice.
func TestDelete(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		own := h.clone(org, "Robin")
		sample := h.say(org, speech.Request{Text: greeting, Voice: own.ID})
		wantError(t, "the engine's", h.Delete(t.Context(), org, "ada"), callwright.CodeForbidden, "")
		wantError(t, "a foreign one", h.Delete(t.Context(), other, own.ID), callwright.CodeNotFound, "")
		if err := h.Delete(t.Context(), org, "robin"); err != nil {
			t.Fatal(err)
		}
		wantError(t, "again", h.Delete(t.Context(), org, own.ID), callwright.CodeNotFound, "")
		list, err := h.Samples(t.Context(), org, speech.SampleQuery{Voice: own.ID, Limit: 10})
		if err != nil || list.Total != 1 || list.Samples[0].ID != sample.ID || list.Samples[0].Voice != own.ID {
			t.Errorf("its samples are %+v, %v", list, err)
		}
		h.read(org, sample.ID)
		if _, err := speechtest.Speak(t.Context(), h.Speaker(org), tts.Request{Text: "Hello.", Voice: own.ID, Rate: 8000}); err != nil {
			t.Errorf("a call with it: %v", err)
		}
		if spoken := h.engine.Requests(); spoken[len(spoken)-1].Voice != "" {
			t.Errorf("a call with it has %+v", spoken[len(spoken)-1])
		}
		h.sleep(time.Second)
		if h.cloner.Knows(org, own.ID) {
			t.Error("the provider still has the voice")
		}
		h.clone(org, "Robin") // the name can be used again
	})
}

// TestVoiceOfAnotherEngine uses a voice whose base the engine lacks. Texts must be refused, and calls must use the default voice.
func TestVoiceOfAnotherEngine(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.clone(org, "Robin")
		_, err := h.Speak(t.Context(), org, speech.Request{Text: greeting, Voice: "Robin"})
		wantError(t, "a text", err, callwright.CodeBadRequest, "voice")
		if !strings.Contains(callwright.MessageOf(err), "does not have its base voice") {
			t.Errorf("it says %v", err)
		}
		if _, err := speechtest.Speak(t.Context(), h.Speaker(org), tts.Request{Text: "Hello.", Voice: "Robin", Rate: 8000}); err != nil {
			t.Errorf("a call: %v", err)
		}
	}, func(h *house, c *speech.Config) { c.Cloner = foreign{h.cloner} })
}

// foreign is a Cloner whose voices are based on a voice that the engine lacks.
type foreign struct{ *speechtest.Cloner }

func (f foreign) Clone(ctx context.Context, r speech.Cloning) (speech.Clone, error) {
	made, err := f.Cloner.Clone(ctx, r)
	made.Base = "gone"
	return made, err
}

func TestCloneRefuses(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.clone(org, "Robin")
		good := recordings("3s")
		for name, c := range map[string]struct {
			request speech.CloneRequest
			code    callwright.Code
			field   string
		}{
			"no name":       {speech.CloneRequest{Files: good}, callwright.CodeBadRequest, "name"},
			"31 characters": {speech.CloneRequest{Name: strings.Repeat("é", 31), Files: good}, callwright.CodeBadRequest, "name"},
			"reserved":      {speech.CloneRequest{Name: "Clone", Files: good}, callwright.CodeBadRequest, "name"},
			"taken":         {speech.CloneRequest{Name: "ROBIN", Files: good}, callwright.CodeBadRequest, "name"},
			"the engine's":  {speech.CloneRequest{Name: "Ben", Files: good}, callwright.CodeBadRequest, "name"},
			"no files":      {speech.CloneRequest{Name: "x"}, callwright.CodeBadRequest, "audio_samples"},
			"11 files":      {speech.CloneRequest{Name: "x", Files: recordings(strings.Fields(strings.Repeat("1s ", 11))...)}, callwright.CodeBadRequest, "audio_samples"},
			"no audio":      {speech.CloneRequest{Name: "x", Files: recordings("3s", "PK")}, callwright.CodeUnsupportedMedia, "audio_samples[1]"},
			"too long":      {speech.CloneRequest{Name: "x", Files: recordings("4m", "61s")}, callwright.CodePayloadTooLarge, "audio_samples[1]"},
			"description":   {speech.CloneRequest{Name: "x", Description: strings.Repeat("d", 501), Files: good}, callwright.CodeBadRequest, "description"},
			"language":      {speech.CloneRequest{Name: "x", Language: "e\x00", Files: good}, callwright.CodeBadRequest, "language"},
		} {
			_, err := h.Clone(t.Context(), org, c.request)
			wantError(t, name, err, c.code, c.field)
		}
		if list, err := h.Voices(t.Context(), org); err != nil || len(list) != 4 {
			t.Errorf("there are %d voices, %v", len(list), err)
		}
	})
}

// TestCloneThatIsLost makes Clone fail by a name conflict after the provider has made the voice, by a provider that hangs, and without a
// Cloner. After the name conflict, the voice must be deleted at the provider.
func TestCloneThatIsLost(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		_, err := h.Clone(t.Context(), org, speech.CloneRequest{Name: "Robin", Files: recordings("3s")})
		wantError(t, "a name that is taken meanwhile", err, callwright.CodeBadRequest, "name")
		id := h.cloner.Clonings()[0].ID
		if !h.cloner.Knows(org, id) {
			t.Fatal("the provider has made no voice")
		}
		h.sleep(2 * time.Hour)
		if h.cloner.Knows(org, id) {
			t.Error("the provider still has the voice")
		}
	}, func(_ *house, c *speech.Config) { c.Voices = full{c.Voices} })
	inHouse(t, func(t *testing.T, h *house) {
		begun := time.Now()
		_, err := h.Clone(t.Context(), org, speech.CloneRequest{Name: "Robin", Files: recordings("3s")})
		wantError(t, "a provider that hangs", err, callwright.CodeUnavailable, "audio_samples")
		if time.Since(begun) > 2*time.Minute {
			t.Errorf("a provider that hangs gives up after %v", time.Since(begun))
		}
	}, func(h *house, _ *speech.Config) { h.cloner.Hangs = true })
	inHouse(t, func(t *testing.T, h *house) {
		_, err := h.Clone(t.Context(), org, speech.CloneRequest{Name: "Robin", Files: recordings("3s")})
		wantError(t, "no cloner", err, callwright.CodeUnavailable, "")
	}, func(_ *house, c *speech.Config) { c.Cloner = nil })
}

// full is a Voices whose InsertVoice refuses every name as in use.
type full struct{ speech.Voices }

func (full) InsertVoice(context.Context, speech.Voice) error {
	return &callwright.Error{Code: callwright.CodeConflict, Field: "name", Message: "taken"}
}

func TestSpeaker(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		own := h.clone(org, "Robin")
		request := tts.Request{Text: greeting, Voice: "robin", Rate: 8000}
		first, err := speechtest.Speak(t.Context(), h.Speaker(org), request)
		if err != nil {
			t.Fatal(err)
		}
		again, err := speechtest.Speak(t.Context(), h.Speaker(org), request)
		if err != nil || len(again) != len(first) || len(h.engine.Requests()) != 1 {
			t.Errorf("repeated it has %d samples after %d requests, %v", len(again), len(h.engine.Requests()), err)
		}
		if got := h.engine.Requests()[0]; got.Voice != own.Base || got.Prosody != own.Prosody || got.Rate != 8000 {
			t.Errorf("asked for is %+v", got)
		}
		if _, err := speechtest.Speak(t.Context(), h.Speaker(other), tts.Request{Text: greeting, Rate: 8000}); err != nil || len(h.engine.Requests()) != 2 {
			t.Errorf("another organization has heard it after %d requests, %v", len(h.engine.Requests()), err)
		}
		if h.total(org) != 0 {
			t.Error("calls keep samples")
		}
		for voice, ok := range map[string]bool{"robin": true, own.ID: true, "ada": true, "": true, "nobody": false} {
			if err := h.CheckVoice(t.Context(), org, voice, ""); (err == nil) != ok {
				t.Errorf("voice %q: %v", voice, err)
			}
		}
		wantError(t, "a foreign voice", h.CheckVoice(t.Context(), other, own.ID, ""), callwright.CodeBadRequest, "voice")
		wantError(t, "a language", h.CheckVoice(t.Context(), org, "", "zz"), callwright.CodeBadRequest, "language")
		ctx, cancel := contextThatEnds(t)
		cancel()
		if _, err := speechtest.Speak(ctx, h.Speaker(org), request); err == nil {
			t.Error("a repeated prompt outlives its context")
		}
	})
}

// TestPromptsKeepMarks checks that cached audio has the marks of the engine, and that they are those of the written words.
func TestPromptsKeepMarks(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		guide := tts.NewGuide([]tts.Pronunciation{{Word: "Ada", Spoken: "A D A"}})
		var first []tts.Mark
		for range 2 {
			stream, err := tts.Styled(h.Speaker(org), tts.Prosody{Tempo: 1.5}, guide).Synthesize(t.Context(), tts.Request{Text: greeting, Rate: 8000})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, pcmReader{stream}); err != nil {
				t.Fatal(err)
			}
			marks := tts.MarksOf(stream)
			if last := marks[len(marks)-1]; len(marks) != len(strings.Fields(greeting)) || string([]rune(greeting)[last.From:last.To]) != "Ada" {
				t.Errorf("marks %+v", marks)
			}
			if first != nil && !slices.Equal(marks, first) {
				t.Errorf("the cached audio has the marks %+v, the engine's were %+v", marks, first)
			}
			first = marks
		}
		if len(h.engine.Requests()) != 1 {
			t.Errorf("%d requests", len(h.engine.Requests()))
		}
	})
}

// pcmReader reads the bytes of a stream; a sample is a byte.
type pcmReader struct{ tts.Stream }

func (r pcmReader) Read(p []byte) (int, error) { return r.Stream.Read(make([]int16, len(p))) }

// TestPromptsAreBounded speaks more audio than the cache can hold. The oldest audio must be evicted, and recent audio must be cached.
func TestPromptsAreBounded(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		say := func(text string) {
			t.Helper()
			if _, err := speechtest.Speak(t.Context(), h.Speaker(org), tts.Request{Text: text, Rate: 8000}); err != nil {
				t.Fatal(err)
			}
		}
		say("first")
		for i := range 200 {
			say(strings.Repeat("x", i+1))
		}
		before := len(h.engine.Requests())
		say(strings.Repeat("x", 150))
		if len(h.engine.Requests()) != before {
			t.Error("what was spoken last is forgotten")
		}
		say("first")
		if len(h.engine.Requests()) != before+1 {
			t.Error("nothing is forgotten")
		}
	}, func(_ *house, c *speech.Config) { c.Prompts = 8 << 20 })
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	inHouse(t, func(*testing.T, *house) {}, func(h *house, c *speech.Config) {
		for name, change := range map[string]func(*speech.Config){
			"Engine": func(c *speech.Config) { c.Engine = nil }, "Voices": func(c *speech.Config) { c.Voices = nil },
			"Samples": func(c *speech.Config) { c.Samples = nil }, "Blobs": func(c *speech.Config) { c.Blobs = nil },
			"Atomic": func(c *speech.Config) { c.Atomic = nil }, "Work": func(c *speech.Config) { c.Work = nil },
			"Decoder": func(c *speech.Config) { c.Decoder = nil }, "Key": func(c *speech.Config) { c.Key = "short" },
			"Waiting": func(c *speech.Config) { c.Waiting = -1 },
		} {
			bad := *c
			change(&bad)
			if _, err := speech.New(bad); err == nil || !strings.Contains(err.Error(), name) {
				h.t.Errorf("%s: %v", name, err)
			}
		}
	})
}
