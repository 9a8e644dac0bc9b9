package main

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// line is a line that the phone speaks. over is 0 for a line that waits until the peer has finished. Otherwise the phone speaks it that long
// after the peer has begun to speak.
type line struct {
	pieces []piece
	over   time.Duration
}

// piece is a part of a line, and the pause before it.
type piece struct {
	pause time.Duration
	text  string
}

// String returns the words of a line.
func (l line) String() string {
	var words []string
	for _, p := range l.pieces {
		words = append(words, p.text)
	}
	return strings.Join(words, " ... ")
}

// bracketed matches a pause in a line.
var bracketed = regexp.MustCompile(`\[[^\]]*\]`)

// longestPause limits a pause in a line.
const longestPause = time.Minute

// add appends a line to the lines that the phone speaks.
func (o *options) add(text string, over time.Duration) error {
	l := line{over: over}
	var pause time.Duration
	for {
		at := bracketed.FindStringIndex(text)
		words := text
		if at != nil {
			words = text[:at[0]]
		}
		if words = strings.TrimSpace(words); words != "" {
			l.pieces = append(l.pieces, piece{pause, words})
			pause = 0
		}
		if at == nil {
			break
		}
		d, err := time.ParseDuration(text[at[0]+1 : at[1]-1])
		if err != nil || d <= 0 || d > longestPause {
			return errors.New("must have pauses of at most 1m in brackets, such as [700ms]")
		}
		pause += d
		text = text[at[1]:]
	}
	if len(l.pieces) == 0 {
		return errors.New("must contain words")
	}
	o.Lines = append(o.Lines, l)
	return nil
}
