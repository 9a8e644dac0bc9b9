package remotebrain

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/dialogue"
)

// The limits of the members of lines.
const (
	maxPhrases = 100
	maxPhrase  = 200  // characters
	maxLength  = 1000 // digits or letters of an expected answer
	maxDigits  = 64
	maxTarget  = 256 // characters of a transfer's target
	maxReason  = 200 // characters; longer reasons and messages are cut
)

// blank reports whether a line contains no JSON. Services may send blank lines to show that they are still working.
func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// last reports whether a line ends its answer.
func (l Line) last() bool {
	switch l.Type {
	case LineDone, LineCommit, LineTransfer, LineEnd, LineError:
		return true
	default:
		return false
	}
}

// kinds contains the known kinds of expected answers.
var kinds = map[expect.Kind]bool{
	expect.Free: true, expect.Digits: true, expect.Spelling: true, expect.YesNo: true, expect.Date: true, expect.Email: true, expect.Address: true,
}

// check returns an error for a line that violates the protocol, and cleans its texts.
func (l *Line) check() error {
	switch l.Type {
	case LineSay, LineText:
		l.Text = callwright.Printable(l.Text)
		return nil
	case LineExpect:
		return l.checkExpect()
	case LineBargeIn:
		return l.checkBargeIn()
	case LineWait:
		if !(l.Seconds > 0 && l.Seconds <= dialogue.MaxIdle.Seconds()) {
			return fmt.Errorf("seconds must be more than 0 and at most %d", int(dialogue.MaxIdle.Seconds()))
		}
		return nil
	case LinePress:
		if l.Digits == "" || len(l.Digits) > maxDigits || strings.Trim(l.Digits, "0123456789ABCD*#w") != "" {
			return fmt.Errorf("digits must have 1 to %d characters, which are 0-9, A-D, *, # or w", maxDigits)
		}
		return nil
	case LineSet:
		if l.Variables == nil {
			return errors.New("variables is required")
		}
		return nil
	case LineTransfer:
		return l.checkTarget()
	case LineDone, LineCommit, LineEnd, LineError:
		return nil
	case "":
		return errors.New("type is required")
	default:
		return fmt.Errorf("the type %q is unknown", callwright.Clip(l.Type, 40))
	}
}

func (l *Line) checkBargeIn() error {
	if l.Level != nil && (*l.Level < 0 || *l.Level > conversation.MaxInterruptibility) {
		return fmt.Errorf("level must be from 0 to %d", conversation.MaxInterruptibility)
	}
	if l.ThresholdMS < 0 || l.ThresholdMS > int(conversation.MaxThreshold.Milliseconds()) {
		return fmt.Errorf("threshold_ms must be from 0 to %d", conversation.MaxThreshold.Milliseconds())
	}
	return nil
}

func (l *Line) checkExpect() error {
	if len(l.Phrases) > maxPhrases {
		return fmt.Errorf("phrases must have at most %d items", maxPhrases)
	}
	for _, p := range l.Phrases {
		if callwright.Longer(p, maxPhrase) {
			return fmt.Errorf("phrases must each have at most %d characters", maxPhrase)
		}
	}
	if !kinds[expect.Kind(l.Kind)] {
		return errors.New("kind must be digits, spelling, yes_no, date, email, address or absent")
	}
	if l.Min < 0 || l.Max < 0 || l.Min > maxLength || l.Max > maxLength || l.Max > 0 && l.Min > l.Max {
		return fmt.Errorf("min and max must be from 0 to %d, and min not above max", maxLength)
	}
	if !endpoint.IsBound(millis(l.LeastMS)) || !endpoint.IsBound(millis(l.LongestMS)) {
		return errors.New("least_ms and longest_ms " + endpoint.BoundRange)
	}
	return nil
}

// checkTarget accepts a number in E.164, a SIP URI, and no target.
func (l *Line) checkTarget() error {
	if l.To == "" {
		return nil
	}
	lower := strings.ToLower(l.To)
	if strings.HasPrefix(lower, "sip:") || strings.HasPrefix(lower, "sips:") {
		if len(l.To) > maxTarget || strings.ContainsFunc(l.To, func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }) {
			return fmt.Errorf("to must have at most %d visible ASCII characters", maxTarget)
		}
		return nil
	}
	number, err := callwright.ParsePhoneNumber(l.To)
	if err != nil {
		return errors.New("to must be a number in E.164 or a SIP URI")
	}
	l.To = number.String()
	return nil
}

// millis converts milliseconds to a duration, within a day.
func millis(n int) time.Duration {
	const day = 24 * 60 * 60 * 1000
	return time.Duration(min(max(n, -day), day)) * time.Millisecond
}

// expect returns the step of a LineExpect.
func (l Line) expect() conversation.Expect {
	return conversation.Expect{
		Phrases: l.Phrases, Answer: expect.Answer{Kind: expect.Kind(l.Kind), Min: l.Min, Max: l.Max},
		Least: millis(l.LeastMS), Longest: millis(l.LongestMS),
	}
}

// bargeIn returns the step of a LineBargeIn.
func (l Line) bargeIn() conversation.BargeIn {
	b := conversation.BargeIn{Threshold: millis(l.ThresholdMS)}
	if l.Level != nil {
		b.Level = conversation.InterruptibilityOf(*l.Level)
	}
	return b
}

// reason returns the reason of a LineEnd.
func (l Line) reason() string {
	if reason := inline(l.Reason); reason != "" {
		return callwright.Clip(reason, maxReason)
	}
	return "the brain was done"
}

// failure returns the text of a LineError: the code and the message.
func (l Line) failure() string {
	text := strings.Trim(strings.TrimSpace(l.Code)+": "+strings.TrimSpace(l.Message), ": ")
	if text == "" {
		text = "it does not say why"
	}
	return callwright.Clip(inline(text), maxReason)
}

// inline returns a text as one printable line.
func inline(text string) string { return strings.Join(strings.Fields(callwright.Printable(text)), " ") }
