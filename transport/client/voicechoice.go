package client

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// DefaultVoices returns the three voices from which the zero VoiceChoice draws at random. The engine of the reference server supports them.
func DefaultVoices() []string { return []string{"slt", "rms", "awb"} }

// VoiceChoice selects the voice for a request that names none. The zero value draws one of DefaultVoices at random.
type VoiceChoice struct {
	names  []string
	server bool
}

// RandomVoice draws one of the names at random for each request. Without names, it draws one of DefaultVoices. If the server refuses a
// voice that was drawn from several, the server chooses the voice: see Client.Speak.
func RandomVoice(names ...string) VoiceChoice { return VoiceChoice{names: slices.Clone(names)} }

// PinnedVoice always selects one voice, by its name or id.
func PinnedVoice(name string) VoiceChoice { return VoiceChoice{names: []string{name}} }

// ServerVoice lets the server choose the voice.
func ServerVoice() VoiceChoice { return VoiceChoice{server: true} }

func (v VoiceChoice) check() error {
	if slices.Contains(v.names, "") {
		return errors.New("client: Config.Voice has an empty name: use ServerVoice to let the server choose")
	}
	return nil
}

// draws reports whether pick selects one of several voices at random.
func (v VoiceChoice) draws() bool { return !v.server && len(v.names) != 1 }

// pick returns a voice, or an empty name if the server chooses.
func (v VoiceChoice) pick(d *draw) string {
	names := v.names
	switch {
	case v.server:
		return ""
	case len(names) == 0:
		names = DefaultVoices()
	}
	return names[d.below(len(names))]
}

// draw is a random source that is safe for concurrent use.
type draw struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func newDraw(source rand.Source) *draw {
	if source == nil {
		source = rand.NewPCG(rand.Uint64(), rand.Uint64()) //nolint:gosec // see below
	}
	return &draw{rand: rand.New(source)} //nolint:gosec // draws voices and spreads load, hides nothing
}

// below returns a random number from 0 to n-1.
func (d *draw) below(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.IntN(n)
}

// spread returns a random duration between half of the given maximum and the maximum.
func (d *draw) spread(most time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return most/2 + time.Duration(d.rand.Int64N(int64(most/2)+1))
}
