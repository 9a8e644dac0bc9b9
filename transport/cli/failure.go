package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/report"
	"github.com/callwright/callwright/transport/client"
)

// The exit codes of every command except test and scenarios, which use the codes of package report.
const (
	ExitDone         = 0
	ExitRefused      = 1   // the server refused, the object is absent, or a file could not be written
	ExitUsage        = 2   // the command was called incorrectly: nothing was done
	ExitUnavailable  = 3   // no connection, rate limit, or server failure: the command may succeed later
	ExitUnauthorized = 4   // no key, a refused key, or a key without the necessary right
	ExitInterrupted  = 130 // a signal interrupted the command
)

const exitCodes = "Exit codes: 0 done; 1 refused by the server, absent, or a file cannot be written; 2 called wrongly, nothing was done;\n" +
	"3 no connection, too many requests, or a server that fails: try again later; 4 no key, or one that may not do this;\n" +
	"130 interrupted. The commands test and scenarios have their own: 0 all passed; 1 a run has failed; 2 runs ended in\n" +
	"errors; 3 nothing was done."

// ownCodes is the annotation of commands that use the exit codes of package report.
const ownCodes = "report-codes"

// The codes of errors that the command line itself reports, in addition to the codes of package callwright.
const (
	codeUsage       = "USAGE"
	codeRefused     = "REFUSED"
	codeInterrupted = "INTERRUPTED"
)

// exit is an error with its exit code. If err is nil, nothing is printed, because the command has reported the failure.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }

func (e *exit) Unwrap() error { return e.err }

// usage returns the error of a command that was called incorrectly and has done nothing.
func usage(err error) error { return &exit{code: ExitUsage, err: err} }

// refused returns the error of a command that failed with ExitRefused.
func refused(err error) error { return &exit{code: ExitRefused, err: err} }

// exitOfStatus returns the exit code for the HTTP status of a failed request.
func exitOfStatus(status int) int {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return ExitUnauthorized
	case status == http.StatusNotImplemented:
		return ExitRefused
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= http.StatusInternalServerError:
		return ExitUnavailable
	default:
		return ExitRefused
	}
}

// exitOfCode returns the exit code for an error that is not a server's answer.
func exitOfCode(code callwright.Code) int {
	switch code {
	case callwright.CodeAuthFailure, callwright.CodeFeatureNotEnabled, callwright.CodeForbidden:
		return ExitUnauthorized
	case callwright.CodeUnavailable, callwright.CodeTooManyRequests, callwright.CodeInternal:
		return ExitUnavailable
	case callwright.CodeBadRequest:
		return ExitUsage
	default:
		return ExitRefused
	}
}

// failure is the form in which --json prints an error.
type failure struct {
	Code       string  `json:"code"`
	Message    string  `json:"message"`
	Field      string  `json:"field,omitempty"`
	Status     int     `json:"status,omitempty"`      // HTTP status of the server's answer
	Body       any     `json:"body,omitempty"`        // body of the server's answer, as JSON or text
	RetryAfter float64 `json:"retry_after,omitempty"` // seconds
	ExitCode   int     `json:"exit_code"`
}

// failureOf returns the description of a command's error, with the exit code. The Message is empty if nothing is to be printed.
func failureOf(ctx context.Context, cmd *cobra.Command, err error) failure {
	own, exits := errors.AsType[*exit](err)
	if exits && own.err == nil {
		return failure{ExitCode: own.code}
	}
	f := failure{ExitCode: ExitUsage, Code: codeUsage, Message: plain(err.Error())}
	answer, answered := errors.AsType[*client.Error](err)
	domain, coded := errors.AsType[*callwright.Error](err)
	switch {
	case answered:
		f.Message = answerText(cmd, err, answer)
		f.answer(answer)
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		f.Code, f.ExitCode = codeInterrupted, ExitInterrupted
	case coded:
		f.Message = domainText(cmd, err, domain)
		f.Code, f.Field, f.ExitCode = string(domain.Code), domain.Field, exitOfCode(domain.Code)
	case exits && own.code == ExitRefused:
		f.Code = codeRefused
	}
	switch {
	case hasOwnCodes(cmd):
		f.ExitCode = report.ExitUsage
	case exits:
		f.ExitCode = own.code
	}
	return f
}

// answer sets the fields that describe a server's answer. For the statuses 401 and 429, and after a Retry-After, it appends a remedy to the
// message.
func (f *failure) answer(e *client.Error) {
	f.Code, f.Field, f.Status, f.RetryAfter = cmp.Or(e.Code, string(callwright.CodeInternal)), e.Field, e.Status, e.RetryAfter.Seconds()
	f.ExitCode = exitOfStatus(e.Status)
	f.Message = oneLine(f.Message) // so that the server cannot imitate the lines that follow
	switch {
	case json.Valid(e.Body):
		f.Body = json.RawMessage(e.Body)
	case len(e.Body) > 0:
		f.Body = string(e.Body)
	}
	switch {
	case e.Status == http.StatusUnauthorized:
		f.Message += "\nthe server does not accept the key: set " + apiKeyVariable + ", or name its file with --" + keyFileFlag
	case e.RetryAfter > 0:
		f.Message += "\ntry again in " + e.RetryAfter.String()
	case e.Status == http.StatusTooManyRequests:
		f.Message += "\ntry again later"
	}
}

// oneLine joins the lines of a text, which a server may have written, with semicolons.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' }), "; ")
}

// hasOwnCodes reports whether a command or one of its ancestors uses the exit codes of package report.
func hasOwnCodes(cmd *cobra.Command) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		if cmd.Annotations[ownCodes] != "" {
			return true
		}
	}
	return false
}

// print writes an error as a line of JSON or as text.
func (f failure) print(to io.Writer, asJSON bool) {
	if asJSON {
		printLine(to, f)
		return
	}
	_, _ = fmt.Fprintln(to, "callwright:", visible(f.Message, "\n\t")) // an error cannot be reported
}
