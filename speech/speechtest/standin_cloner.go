package speechtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// Cloner is a fake speech.Cloner for tests. Its voices are based on an Engine's voices, with a pitch and a tempo that depend on the length
// of the recordings. It refuses silent recordings. The zero Cloner is ready for use. A test must set the fields before the first call.
type Cloner struct {
	Name string      // default "stand-in"
	Kind speech.Kind // default speech.KindProfile

	// Fails, if not nil, is the error that Clone returns.
	Fails error
	// FailsToDelete, if not nil, is the error that Delete returns.
	FailsToDelete error
	// Hangs makes Clone block until its context ends.
	Hangs bool
	// Delay is the time that Clone takes.
	Delay time.Duration

	mu       sync.Mutex
	clonings []speech.Cloning
	voices   map[cloneID]speech.Clone
}

type cloneID struct {
	org callwright.OrgID
	id  string
}

var _ speech.Cloner = (*Cloner)(nil)

// Describe returns Name and Kind, or their defaults.
func (c *Cloner) Describe() (name string, kind speech.Kind) {
	return cmp.Or(c.Name, "stand-in"), cmp.Or(c.Kind, speech.KindProfile)
}

// Clone makes a voice based on cleo for German recordings, and on ada for others. A second call with the same organization and ID returns
// the same Clone. It returns CodeBadRequest with the field "audio_samples" if all recordings are silent.
func (c *Cloner) Clone(ctx context.Context, r speech.Cloning) (speech.Clone, error) {
	c.mu.Lock()
	c.clonings = append(c.clonings, r)
	c.mu.Unlock()
	wait := time.NewTimer(c.Delay)
	defer wait.Stop()
	ready := wait.C
	if c.Hangs {
		ready = nil
	}
	select {
	case <-ctx.Done():
	case <-ready:
	}
	if err := ctx.Err(); err != nil {
		return speech.Clone{}, fmt.Errorf("speechtest: clone: %w", err)
	}
	if c.Fails != nil {
		return speech.Clone{}, c.Fails
	}
	return c.make(r)
}

func (c *Cloner) make(r speech.Cloning) (speech.Clone, error) {
	var length time.Duration
	var loudest float64
	for _, recording := range r.Recordings {
		length += recording.Duration()
		loudest = max(loudest, level(recording.Samples))
	}
	if loudest < 0.001 {
		return speech.Clone{}, callwright.Invalid("audio_samples", "hold no speech")
	}
	voice := hums[0].Voice
	if broad(r.Language) == "de" {
		voice = hums[2].Voice
	}
	part := float64(pcm.Samples(length, 1000)%1000) / 1000
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cloneID{r.Org, r.ID}
	if made, ok := c.voices[key]; ok {
		return made, nil
	}
	if c.voices == nil {
		c.voices = map[cloneID]speech.Clone{}
	}
	c.voices[key] = speech.Clone{
		Base: voice.Name, Prosody: tts.Prosody{Pitch: 0.8 + 0.4*part, Tempo: 1.2 - 0.4*part}, Language: voice.Language,
		Description: fmt.Sprintf("Made of %.1f s", length.Seconds()),
	}
	return c.voices[key], nil
}

// Delete deletes a voice, and returns nil for an unknown id.
func (c *Cloner) Delete(_ context.Context, org callwright.OrgID, id string) error {
	if c.FailsToDelete != nil {
		return c.FailsToDelete
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.voices, cloneID{org, id})
	return nil
}

// Clonings returns the arguments of all calls of Clone, in order.
func (c *Cloner) Clonings() []speech.Cloning {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.clonings)
}

// Knows reports whether Clone has made the voice of an organization and Delete has not deleted it.
func (c *Cloner) Knows(org callwright.OrgID, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.voices[cloneID{org, id}]
	return ok
}
