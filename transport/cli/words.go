package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

// flagError returns a usage error for a flag that cannot be parsed. For a flag of type int, the message says that the value must be a whole
// number.
func flagError(_ *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && wrong.GetFlag().Value.Type() == "int" {
		return usage(fmt.Errorf("--%s %s: must be a whole number", wrong.GetFlag().Name, wrong.GetValue()))
	}
	return usage(err)
}

// The patterns of cobra's messages about groups of flags.
var (
	noneOf    = regexp.MustCompile(`^at least one of the flags in the group \[(.*)\] is required$`)
	tooManyOf = regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)
)

// plain replaces a message of cobra about groups of flags with a plain message. It returns other messages unchanged.
func plain(text string) string {
	if found := noneOf.FindStringSubmatch(text); found != nil {
		return "nothing would be done: set --" + strings.Join(strings.Fields(found[1]), " or --")
	}
	if found := tooManyOf.FindStringSubmatch(text); found != nil {
		return "--" + strings.Join(strings.Fields(found[1]), " and --") + " exclude each other: use only one of them"
	}
	return text
}

// answerText returns the text of an error that contains a server's answer: the server's message, followed by the request and the status in
// parentheses. If a flag of the command sets the field that the answer names, the text names the flag instead.
func answerText(cmd *cobra.Command, err error, e *client.Error) string {
	text := e.Message
	if flag := flagOf(cmd, e.Field); flag != "" {
		text = flag + ": " + strings.TrimPrefix(strings.TrimPrefix(text, e.Field+": "), e.Field+" ")
	}
	origin := fmt.Sprintf(" (%s: %s)", e.Operation, strings.TrimSpace(strconv.Itoa(e.Status)+" "+e.Code))
	return strings.Replace(err.Error(), e.Error(), text+origin, 1)
}

// domainText returns the text of an error, with the flag instead of the field that the error names. If the error refuses an address with
// http, the text also names the flag that allows it.
func domainText(cmd *cobra.Command, err error, e *callwright.Error) string {
	text := err.Error()
	if flag := flagOf(cmd, e.Field); flag != "" {
		text = strings.Replace(text, e.Error(), flag+": "+e.Message, 1)
	}
	if e.Field == "base_url" && strings.Contains(e.Message, "unencrypted") {
		text += "; --" + allowHTTPFlag + " allows it"
	}
	return text
}

// flagNames maps fields to their flags if the names differ.
var flagNames = map[string]string{
	"output_format": "format", "from_number": "from", "to_number": "to", "start_date": "since", "voice_id": "voice",
}

// flagOf returns the flag of a command that sets a field, with its dashes, or an empty text if there is none.
func flagOf(cmd *cobra.Command, field string) string {
	if cmd == nil || field == "" {
		return ""
	}
	for _, name := range []string{flagNames[field], strings.ReplaceAll(field, "_", "-")} {
		if name != "" && (cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil) {
			return "--" + name
		}
	}
	return ""
}
