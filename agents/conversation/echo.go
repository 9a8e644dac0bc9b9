package conversation

import (
	"math"
	"time"

	"github.com/callwright/callwright/speech/pcm"
)

// These constants define how the level of the agent's echo is learned.
const (
	echoTail    = 15              // number of frames within which an echo of the agent returns
	echoGuarded = -9.0            // dB; loudest echo relative to the agent's level
	echoLater   = -30.0           // dB; loudest echo of a converged echo canceller, from which no voice is distinguished
	echoMargin  = 5.0             // dB by which a voice must exceed the echo that was heard before
	echoSounds  = 10.0            // dB below the agent's recent level from which a frame of the agent counts as a pause
	echoWindow  = 1 * time.Second // the agent's sound in a window
	echoWindows = 4               // number of windows in which the softest maximum is searched
	echoLoud    = -60.0           // dBFS; softer sound of the agent has no echo
)

// echo learns how loud the agent's voice returns in the caller's audio. The echo sounds whenever the agent speaks, whereas the caller rarely
// speaks over the agent for several seconds. The softest of the last windows' maxima is therefore the level of the echo.
type echo struct {
	sent    [echoTail]float64 // the agent's level in the last frames, in dBFS
	at      int
	loudest float64 // the maximum of sent

	maxima [echoWindows]float64 // loudest speech of the last windows relative to the agent, in dB
	window int                  // index of the open window
	whole  int                  // number of complete windows, up to echoWindows-1
	filled time.Duration        // duration of the agent's sound in the open window
}

func newEcho() echo {
	e := echo{loudest: pcm.SilenceDB}
	for i := range e.sent {
		e.sent[i] = pcm.SilenceDB
	}
	for i := range e.maxima {
		e.maxima[i] = math.Inf(-1)
	}
	return e
}

// play processes a frame of the agent. It must be called before limit and learn.
func (e *echo) play(out []int16) {
	e.sent[e.at] = pcm.Loudness(out)
	e.at = (e.at + 1) % echoTail
	e.loudest = pcm.SilenceDB
	for _, level := range e.sent {
		e.loudest = max(e.loudest, level)
	}
}

// limit returns the level in dBFS up to which a voice may be an echo of the agent. guarded means that the agent has just begun to speak.
func (e *echo) limit(guarded bool) float64 {
	if guarded {
		return e.loudest + echoGuarded
	}
	softest := math.Inf(1)
	for n := range max(1, e.whole) { // until a window is complete, the open window counts
		softest = min(softest, e.maxima[(e.window-min(n+1, e.whole)+echoWindows)%echoWindows])
	}
	return e.loudest + max(echoLater, min(softest+echoMargin, echoGuarded))
}

// learn processes a frame of the caller's audio with a level in dBFS. speech reports whether it contains anybody's speech, which may be the
// echo. It ignores the agent's pauses.
func (e *echo) learn(speech bool, level float64) {
	latest := e.sent[(e.at+echoTail-1)%echoTail]
	if latest < e.loudest-echoSounds || e.loudest < echoLoud {
		return
	}
	if speech {
		e.maxima[e.window] = max(e.maxima[e.window], level-e.loudest)
	}
	if e.filled += frameTime; e.filled >= echoWindow {
		e.filled = 0
		e.window = (e.window + 1) % echoWindows
		e.whole = min(e.whole+1, echoWindows-1)
		e.maxima[e.window] = math.Inf(-1)
	}
}
