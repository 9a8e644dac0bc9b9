package engine

import (
	"regexp"
	"strings"

	"github.com/callwright/callwright/speech/pcm"
)

// faint is the level in dBFS below which audio counts as silence.
const faint = -60.0

// Faint reports whether audio is too soft for speech. Speech models invent words for silence.
func Faint(audio []int16) bool { return pcm.Loudness(audio) < faint }

// WithoutMarks returns a text without the marks that speech models write for sounds, such as "[BLANK_AUDIO]", "(music)" and notes, and with
// single spaces.
func WithoutMarks(text string) string {
	return strings.Join(strings.Fields(marks.ReplaceAllString(text, " ")), " ")
}

var marks = regexp.MustCompile(`\[[^\]]*\]|\([^)]*\)|[♪♫]`)
