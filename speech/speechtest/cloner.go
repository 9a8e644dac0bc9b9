package speechtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
)

// ClonerHarness contains the constructor of the Cloner under test, and the recordings that RunCloner passes to it.
type ClonerHarness struct {
	// New returns a new Cloner that has made no voices.
	New func(t *testing.T) speech.Cloner
	// Recordings are mono recordings of one speaker, and long enough to make a voice. The suite also concatenates the recordings that have
	// the rate of the first one.
	Recordings []pcm.Audio
	// Unusable contains recordings that Clone must refuse. Each key names the fault of its recordings. The suite adds 30 s of silence and a
	// recording without samples.
	Unusable map[string][]pcm.Audio
	// Voices lists the names of the engine's voices, one of which must be the Base of a voice. If nil, any Base is accepted.
	Voices []string
}

// RunCloner tests a speech.Cloner.
func RunCloner(t *testing.T, h ClonerHarness) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, speech.Cloner){
		"describes itself":               describesCloner,
		"makes a voice":                  h.makesVoice,
		"makes a voice of one recording": h.makesVoiceOfOne,
		"makes a voice once":             h.makesVoiceOnce,
		"refuses unusable recordings":    h.refusesRecordings,
		"ends with its context":          h.endsClone,
		"forgets":                        h.forgets,
		"makes several at once":          h.makesSeveral,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, h.New(t))
		})
	}
}

func (h ClonerHarness) cloning(id string) speech.Cloning {
	c := speech.Cloning{ID: id, Org: "a", Name: "Kim", Language: "en-US", Gender: "female"}
	for _, r := range h.Recordings {
		r.Samples = slices.Clone(r.Samples)
		c.Recordings = append(c.Recordings, r)
	}
	return c
}

func (h ClonerHarness) clone(t *testing.T, c speech.Cloner, r speech.Cloning) speech.Clone {
	t.Helper()
	made, err := c.Clone(t.Context(), r)
	if err != nil {
		t.Fatalf("clone %s: %v", r.ID, err)
	}
	h.check(t, made)
	return made
}

func (h ClonerHarness) check(t *testing.T, made speech.Clone) {
	t.Helper()
	if made.Base == "" || h.Voices != nil && !slices.Contains(h.Voices, made.Base) {
		t.Errorf("the voice speaks with %q, want one of %v", made.Base, h.Voices)
	}
	if err := made.Prosody.Check(); err != nil {
		t.Errorf("the prosody is %+v: %v", made.Prosody, err)
	}
	if n := utf8.RuneCountInString(made.Description); n > speech.MaxDescription || strings.ContainsFunc(made.Description, callwright.Hidden) {
		t.Errorf("the description is %q, of %d characters", made.Description, n)
	}
}

func describesCloner(t *testing.T, c speech.Cloner) {
	name, kind := c.Describe()
	if name == "" || strings.ContainsFunc(name, callwright.Hidden) {
		t.Errorf("its name is %q", name)
	}
	if kind != speech.KindProfile && kind != speech.KindClone {
		t.Errorf("its voices are of the kind %q", kind)
	}
}

func (h ClonerHarness) makesVoice(t *testing.T, c speech.Cloner) {
	r := h.cloning("v1")
	h.clone(t, c, r)
	if !reflect.DeepEqual(r, h.cloning("v1")) {
		t.Error("the recordings were changed")
	}
	bare := h.cloning("v2")
	bare.Name, bare.Language, bare.Gender = "", "", ""
	h.clone(t, c, bare)
}

func (h ClonerHarness) makesVoiceOfOne(t *testing.T, c speech.Cloner) {
	r := h.cloning("v1")
	one := r.Recordings[0]
	for _, more := range r.Recordings[1:] {
		if more.Rate == one.Rate {
			one.Samples = append(one.Samples, more.Samples...)
		}
	}
	r.Recordings = []pcm.Audio{one}
	h.clone(t, c, r)
}

func (h ClonerHarness) makesVoiceOnce(t *testing.T, c speech.Cloner) {
	first := h.clone(t, c, h.cloning("v1"))
	for range 2 {
		if again := h.clone(t, c, h.cloning("v1")); again != first {
			t.Errorf("the same id gave %+v, then %+v", first, again)
		}
	}
}

func (h ClonerHarness) refusesRecordings(t *testing.T, c speech.Cloner) {
	unusable := map[string][]pcm.Audio{
		"silence": {{Rate: 16000, Channels: 1, Samples: make([]int16, 16000*30)}},
		"nothing": {{Rate: 16000, Channels: 1}},
	}
	maps.Copy(unusable, h.Unusable)
	for name, recordings := range unusable {
		r := h.cloning("v-" + name)
		r.Recordings = recordings
		_, err := c.Clone(t.Context(), r)
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeBadRequest || e.Field != "audio_samples" {
			t.Errorf("%s gave %v, want %s about audio_samples", name, err, callwright.CodeBadRequest)
		}
	}
}

func (h ClonerHarness) endsClone(t *testing.T, c speech.Cloner) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	soon(t, "Clone, whose context has ended,", func() {
		if made, err := c.Clone(ctx, h.cloning("v1")); err == nil {
			t.Errorf("%+v was made with a context that had ended", made)
		}
	})
	h.clone(t, c, h.cloning("v1"))
}

func (h ClonerHarness) forgets(t *testing.T, c speech.Cloner) {
	h.clone(t, c, h.cloning("v1"))
	for _, one := range []struct {
		org callwright.OrgID
		id  string
	}{{"b", "v1"}, {"a", "unknown"}, {"a", "v1"}, {"a", "v1"}} {
		if err := c.Delete(t.Context(), one.org, one.id); err != nil {
			t.Errorf("forget %s of %s: %v", one.id, one.org, err)
		}
	}
	h.clone(t, c, h.cloning("v2"))
}

func (h ClonerHarness) makesSeveral(t *testing.T, c speech.Cloner) {
	made := make([]speech.Clone, 4)
	errs := atOnce(len(made), func(i int) (err error) {
		made[i], err = c.Clone(t.Context(), h.cloning(fmt.Sprint("v", i/2)))
		return err
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, one := range made {
		h.check(t, one)
		if one != made[i/2*2] {
			t.Errorf("one id gave %+v and %+v at once", made[i/2*2], one)
		}
	}
}
