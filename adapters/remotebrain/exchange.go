package remotebrain

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/speech/tts"
)

// The deadlines of an answer. The time in which the words are spoken does not count.
const (
	firstLine = 10 * time.Second // from the request to the first line, including a repeated request
	nextLine  = 15 * time.Second // between two lines
)

// The wait before a request is repeated. A service that asks for a longer one is not asked again.
const (
	pause        = 250 * time.Millisecond
	longestPause = 2 * time.Second
)

// exchange asks a service for the answer to one turn.
type exchange struct {
	brain   *Brain
	request Request
	early   bool // whether the turn may be uncertain
	opening bool // whether no turn was answered before
	url     string
	answer  *dialogue.Answer

	chunks   tts.Chunker    // of LineText
	requests []request.Log  // in order
	set      map[string]any // variables that the service has set in this turn
	sets     int            // number of LineSet in this answer
}

// run asks the service, and once more for the rest of an answer that ends with LineCommit. A stopped answer is not an error.
func (x *exchange) run(ctx context.Context) error {
	x.request.Early = x.early
	for {
		last, err := x.ask(ctx)
		if err != nil || last != LineCommit || !x.answer.Certain() {
			return err
		}
		x.request.Early, x.request.Said = false, x.answer.Said()
	}
}

// errLate is the cause that cancels a request whose answer does not come in time.
var errLate = errors.New("remotebrain: the answer is late")

// ask sends the request, and performs the lines of the answer. It returns the type of the last line, or "" if the answer was stopped.
func (x *exchange) ask(ctx context.Context) (last string, err error) {
	began := x.brain.cfg.Clock.Now()
	timed, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(firstLine, func() { cancel(errLate) })
	defer timer.Stop()
	status := 0
	defer func() {
		if err != nil && errors.Is(context.Cause(timed), errLate) && ctx.Err() == nil {
			err = callwright.Errorf(callwright.CodeUnavailable, "the brain is silent: it sent no line in time")
		}
		x.requests = append(x.requests, x.log(began, status, err))
	}()
	body, err := x.open(timed)
	if err != nil {
		return "", err
	}
	defer body.Close()
	status = 200
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 4<<10), MaxLine)
	for number := 1; lines.Scan(); number++ {
		timer.Stop()
		if number > MaxLines {
			return "", invalid("it has more than %d lines", MaxLines)
		}
		line, err := parse(lines.Bytes())
		if err != nil {
			return "", invalid("line %d: %w", number, err)
		}
		if err := x.perform(line); err != nil {
			return "", err
		}
		switch {
		case x.answer.Stopped():
			return "", nil
		case line.last():
			return line.Type, nil
		}
		timer.Reset(nextLine)
	}
	switch err := lines.Err(); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, bufio.ErrTooLong):
		return "", invalid("a line has more than %d bytes", MaxLine)
	default:
		return "", callwright.Errorf(callwright.CodeUnavailable, "the brain's answer was cut off").Because(err)
	}
}

// invalid returns the error for an answer that violates the protocol.
func invalid(format string, args ...any) error {
	return callwright.Errorf(callwright.CodeUnavailable, "the brain's answer is invalid: "+format, args...)
}

// open posts the request. If the service is not available, it posts the request once more, with the same id.
func (x *exchange) open(ctx context.Context) (io.ReadCloser, error) {
	body, err := json.Marshal(x.request)
	if err != nil {
		return nil, fmt.Errorf("remotebrain: %w", err)
	}
	c := x.brain.cfg
	id := c.IDs.New()
	for attempt := 1; ; attempt++ {
		answer, err := c.Sender.Stream(ctx, c.Org, id, c.URL, body)
		fault, _ := errors.AsType[*callwright.Error](err)
		if err == nil {
			return answer, nil
		}
		if attempt == 2 || fault == nil || fault.Code != callwright.CodeUnavailable || fault.RetryAfter > longestPause {
			return nil, away(err, fault)
		}
		timer := time.NewTimer(max(pause, fault.RetryAfter))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, away(err, fault)
		}
	}
}

// away returns the error about a service that does not answer. fault is nil if err is no callwright.Error.
func away(err error, fault *callwright.Error) error {
	if fault == nil {
		return err
	}
	return callwright.Errorf(fault.Code, "the brain cannot be asked: %s", fault.Message).Because(err)
}

// parse decodes a line. A blank line is a Line without a type.
func parse(text []byte) (line Line, err error) {
	if !utf8.Valid(text) {
		return line, errors.New("it is not UTF-8")
	}
	if blank(text) {
		return line, nil
	}
	if err := json.Unmarshal(text, &line); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return line, fmt.Errorf("%s must not be a %s", wrong.Field, wrong.Value)
		}
		return line, errors.New("it is not a JSON object")
	}
	return line, line.check()
}

// perform performs a line: it passes steps to the conversation, and stores variables. A line that cannot be withdrawn waits until the turn is
// certain.
func (x *exchange) perform(line Line) error {
	a := x.answer
	switch line.Type {
	case "":
		return nil
	case LineText:
		x.speak(x.chunks.Write(line.Text))
		return nil
	}
	x.speak(x.chunks.Flush())
	switch line.Type {
	case LineSay:
		a.Text(line.Text)
	case LineBargeIn:
		a.BargeIn = line.bargeIn()
	case LineExpect:
		a.Step(line.expect())
	case LineWait:
		a.Step(conversation.Wait{For: time.Duration(line.Seconds * float64(time.Second))})
	case LinePress:
		a.Step(conversation.Press{Digits: line.Digits, Show: line.Show})
	case LineSet:
		return x.store(line.Variables)
	default:
		return x.performLast(line)
	}
	return nil
}

// performLast performs the last line of an answer.
func (x *exchange) performLast(line Line) error {
	switch a := x.answer; line.Type {
	case LineDone:
		if x.opening && !a.Spoken() && !a.Stopped() {
			return invalid("the first answer has no words")
		}
		x.brain.early = line.Early
	case LineCommit:
		if !x.request.Early {
			return invalid("a commit can only end the answer to an early turn")
		}
	case LineTransfer:
		return x.transfer(line.To)
	case LineEnd:
		a.Step(conversation.End{Reason: line.reason()})
	case LineError:
		return callwright.Errorf(callwright.CodeUnavailable, "the brain has failed: %s", line.failure())
	}
	return nil
}

// speak says the pieces of a text.
func (x *exchange) speak(pieces []string) {
	for _, piece := range pieces {
		x.answer.Text(piece)
	}
}

// store sets variables of the conversation when the turn is certain.
func (x *exchange) store(variables map[string]any) error {
	if x.sets++; x.sets > MaxSets {
		return invalid("it sets variables in more than %d lines", MaxSets)
	}
	if !x.answer.Certain() {
		return nil
	}
	b := x.brain
	if x.set == nil { // the state before a withdrawn turn contains the old maps
		x.set, b.variables, b.sizes = map[string]any{}, maps.Clone(b.variables), maps.Clone(b.sizes)
	}
	for name, value := range variables {
		text, err := json.Marshal(map[string]any{name: value})
		if err != nil {
			return invalid("the variables cannot be encoded")
		}
		size := len(text) - 1 // one of the braces becomes the comma
		b.size += size - b.sizes[name]
		x.set[name], b.variables[name], b.sizes[name] = value, value, size
	}
	if b.size > MaxVariables { // only the whole line counts: a variable may shrink while another one grows
		return invalid("the variables that the brain has set in this call have more than %d bytes", MaxVariables)
	}
	return nil
}

// transfer transfers the call to a target, or to Config.TransferTo if it is empty.
func (x *exchange) transfer(to string) error {
	if to == "" {
		to = x.brain.cfg.TransferTo
	}
	if to == "" {
		return invalid("a transfer needs a number, because the agent has none")
	}
	x.answer.Step(conversation.Transfer{To: to})
	return nil
}
