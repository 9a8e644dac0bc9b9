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

// flagError says in plain words why a flag cannot be read.
func flagError(_ *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && wrong.GetFlag().Value.Type() == "int" {
		return usage(fmt.Errorf("--%s %s: must be a whole number", wrong.GetFlag().Name, wrong.GetValue()))
	}
	return usage(err)
}

// The library of the commands says these about groups of flags.
var (
	noneOf    = regexp.MustCompile(`^at least one of the flags in the group \[(.*)\] is required$`)
	tooManyOf = regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)
)

// plain returns the message of an error about groups of flags in plain words, and others as they are.
func plain(text string) string {
	if found := noneOf.FindStringSubmatch(text); found != nil {
		return "there is nothing to do: give --" + strings.Join(strings.Fields(found[1]), " or --")
	}
	if found := tooManyOf.FindStringSubmatch(text); found != nil {
		return "--" + strings.Join(strings.Fields(found[1]), " and --") + " exclude each other: give one of them"
	}
	return text
}

// answerText returns the message of an error with the answer of a server for people: the server's message first, then the request
// in brackets.
func answerText(cmd *cobra.Command, err error, e *client.Error) string {
	text := e.Message
	if flag := flagOf(cmd, e.Field); flag != "" {
		text = flag + ": " + strings.TrimPrefix(strings.TrimPrefix(text, e.Field+": "), e.Field+" ")
	}
	origin := fmt.Sprintf(" (%s: %s)", e.Operation, strings.TrimSpace(strconv.Itoa(e.Status)+" "+e.Code))
	return strings.Replace(err.Error(), e.Error(), text+origin, 1)
}

// domainText returns the message of an error with the flag in the place of the field that it is about.
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

// flagNames are the flags of fields that have another name.
var flagNames = map[string]string{
	"output_format": "format", "from_number": "from", "to_number": "to", "start_date": "since", "voice_id": "voice",
}

// flagOf returns the flag of a command that sets a field, or nothing.
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
