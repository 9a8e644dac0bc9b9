package call

import (
	"sync"
	"sync/atomic"

	"github.com/callwright/callwright/speech/ambience"
	"github.com/callwright/callwright/speech/pcm"
)

// background is the background sound of a call.
type background struct {
	loop atomic.Pointer[[]int16] // nil until the sound plays
	at   int                     // position in the loop of the next recorded frame
	wait sync.WaitGroup
}

// playBackground lets a leg play a background sound until the call ends. It does not wait until the sound is computed. Without a track, and
// on a leg that is no BackgroundPlayer, nothing plays.
func playBackground(leg Leg, track ambience.Track) *background {
	b := &background{}
	if player, ok := leg.(BackgroundPlayer); ok && track != "" {
		b.wait.Go(func() {
			loop := ambience.Loop(track, leg.Rate())
			player.PlayBackground(loop)
			b.loop.Store(&loop)
		})
	}
	return b
}

// mix adds the sound to the played samples of a frame. If the frame contains none, it returns size samples of the sound.
func (b *background) mix(played []int16, size int) []int16 {
	loop := b.loop.Load()
	if loop == nil {
		return played
	}
	if len(played) == 0 {
		played = append(played, make([]int16, size)...)
	}
	b.at = pcm.MixLoop(played, *loop, b.at)
	return played
}
