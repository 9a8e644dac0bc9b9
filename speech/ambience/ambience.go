package ambience

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/callwright/callwright/speech/pcm"
)

// Track names a background sound. An empty Track means none.
type Track string

// The background sounds.
const (
	Office     Track = "office"     // ventilation, keyboards and distant voices
	Cafe       Track = "cafe"       // voices, cups and sometimes steam
	Restaurant Track = "restaurant" // many voices, plates and cutlery
)

// Tracks returns the names of all background sounds.
func Tracks() []Track { return []Track{Office, Cafe, Restaurant} }

// Known reports whether t is one of Tracks.
func (t Track) Known() bool { return slices.Contains(Tracks(), t) }

// seconds is the length of a loop. Every frequency that is a multiple of 1/seconds Hz continues without a step at the end of the loop.
const seconds = 24

// scenes contains the parts of the sounds.
var scenes = map[Track]scene{
	Office:     {seed: 1, level: -43, room: 1, hum: 0.35, talkers: 3, voices: 0.7, typing: 9},
	Cafe:       {seed: 2, level: -40, room: 0.6, hum: 0.1, talkers: 7, voices: 1.6, clinks: 26, steam: 2},
	Restaurant: {seed: 3, level: -38, room: 0.5, hum: 0.05, talkers: 14, voices: 2, clinks: 60},
}

// scene describes a sound. The levels of its parts are relative to each other.
type scene struct {
	seed    uint64
	level   float64 // of the whole sound, in dBFS
	room    float64 // level of the noise of the room
	hum     float64 // level of the hum of the ventilation
	talkers int
	voices  float64 // level of the talkers together
	typing  int     // bursts of keystrokes in a loop
	clinks  int     // cups, plates and cutlery in a loop
	steam   int     // hisses of a coffee machine in a loop
}

// Loop returns the samples of a sound at a sample rate in Hz, which must be at least pcm.MinRate. Playing them repeatedly gives a sound
// without end and without an audible seam. All callers share the samples and must not change them. The first call for a track and a rate
// computes the samples, which takes some tenths of a second. Loop returns nil for an unknown track.
func Loop(t Track, rate int) []int16 {
	s, ok := scenes[t]
	if !ok || rate < pcm.MinRate || rate > pcm.MaxRate {
		return nil
	}
	made, _ := loops.LoadOrStore(loopKey{t, rate}, sync.OnceValue(func() []int16 { return s.render(rate) }))
	return made.(func() []int16)() //nolint:forcetypeassert // nothing else is in the map
}

// loops contains a func() []int16 for every loopKey.
var loops sync.Map

type loopKey struct {
	track Track
	rate  int
}

// render computes the loop of a scene.
func (s scene) render(rate int) []int16 {
	random := rand.New(rand.NewPCG(s.seed, 24)) //nolint:gosec // a sound, and the same one each time
	c := &canvas{rate: rate, random: random, samples: make([]float64, seconds*rate)}
	for range s.talkers {
		c.talk()
	}
	c.scale(s.voices)
	for range s.clinks {
		c.clink()
	}
	for range s.typing {
		c.typing()
	}
	c.reverberate()
	for range s.steam {
		c.steam()
	}
	c.room(s.room)
	c.hum(s.hum)
	return c.finish(s.level)
}
