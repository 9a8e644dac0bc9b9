package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters/masterkey"
)

// value is a flag.Value for a setting that is not a string. If its function parse fails, Set returns an error with the text in the field
// must.
type value[T any] struct {
	to    *T
	parse func(string) (T, error)
	must  string
}

// String returns the current value of the setting.
func (v *value[T]) String() string {
	if v.to == nil { // package flag calls String on a zero value
		return ""
	}
	return fmt.Sprint(*v.to)
}

// Set parses and stores the setting. The error states the constraint.
func (v *value[T]) Set(text string) error {
	read, err := v.parse(text)
	if err != nil {
		return errors.New(v.must)
	}
	*v.to = read
	return nil
}

// IsBoolFlag reports whether the flag is boolean, so that it means true without a value.
func (v *value[T]) IsBoolFlag() bool {
	_, is := any(v.to).(*bool)
	return is
}

func wholeNumber(to *int) *value[int] { return &value[int]{to, strconv.Atoi, "must be a whole number"} }

func trueOrFalse(to *bool) *value[bool] {
	return &value[bool]{to, strconv.ParseBool, "must be true or false"}
}

func durationOf(to *time.Duration) *value[time.Duration] {
	return &value[time.Duration]{to, time.ParseDuration, "must be a duration such as 30s"}
}

func levelOf(to *slog.Level) *value[slog.Level] {
	read := func(text string) (l slog.Level, err error) { return l, l.UnmarshalText([]byte(text)) }
	return &value[slog.Level]{to, read, "must be debug, info, warn or error"}
}

// parseFlags parses the command line. It prints the flags only if the user asks for help. For an unknown flag, the error suggests a similar
// name.
func parseFlags(f *flag.FlagSet, args []string) error {
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(os.Stderr)
		f.Usage()
		return err
	}
	if err == nil {
		return nil
	}
	if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: "); unknown {
		return fmt.Errorf("unknown flag %s: %s-help lists the flags", name, nearest(f, "--", strings.TrimLeft(name, "-")))
	}
	return err
}

// envStart is the prefix of the server's environment variables.
const envStart = "CALLWRIGHT_"

// testEnvStart is the prefix of the test suite's variables. The server ignores them, because CI sets one and also runs the demo.
const testEnvStart = "CALLWRIGHT_TEST_"

// setFromEnv sets the flags from the environment. A variable with the prefix envStart that matches no flag causes an error, so that
// misspelt settings are noticed. The variables of the master key, of the tests and of Kubernetes are exempt.
func setFromEnv(f *flag.FlagSet, environ []string) (err error) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if len(name) < len(envStart) || !strings.EqualFold(name[:len(envStart)], envStart) {
			continue
		}
		twin := name[len(envStart):]
		if name == masterkey.Variable || strings.HasPrefix(name, testEnvStart) || kubernetes.MatchString(entry) {
			continue
		}
		fl := f.Lookup(strings.ToLower(strings.ReplaceAll(twin, "_", "-")))
		if fl == nil || name != strings.ToUpper(name) {
			err = errors.Join(err, fmt.Errorf("%s: unknown setting: %s-help lists the flags; the variable of --sip-addr, for example, is %sSIP_ADDR",
				name, nearest(f, envStart, twin), envStart))
			continue
		}
		if setErr := f.Set(fl.Name, value); setErr != nil {
			err = errors.Join(err, fmt.Errorf("%s, which is %q, %w", name, value, setErr))
		}
	}
	return err
}

// kubernetes matches the variables that Kubernetes sets in every container for neighboring services. For a service named callwright, these
// are CALLWRIGHT_SERVICE_HOST, CALLWRIGHT_PORT=tcp://10.0.0.1:80, CALLWRIGHT_PORT_80_TCP_ADDR and more.
var kubernetes = regexp.MustCompile(`_SERVICE_HOST=|_SERVICE_PORT(_\w+)?=|_PORT=\w+://|_PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?=`)

// nearest returns a question that suggests the setting most similar to a misspelt one, or "" if none is similar. start is the prefix of the
// suggested name: of variables or of flags.
func nearest(f *flag.FlagSet, start, misspelt string) string {
	plain := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "-")) }
	names := []string{}
	f.VisitAll(func(fl *flag.Flag) { names = append(names, fl.Name) })
	if start == envStart {
		names = append(names, plain(strings.TrimPrefix(masterkey.Variable, envStart)))
	}
	misspelt = plain(misspelt)
	best, least := "", 2+len(misspelt)/2 // a greater distance means a different word
	for _, name := range names {
		if d := distance(misspelt, name); d < least {
			best, least = name, d
		}
	}
	switch {
	case best == "":
		return ""
	case start == envStart:
		best = strings.ToUpper(strings.ReplaceAll(best, "-", "_"))
	}
	return "did you mean " + start + best + "? "
}

// distance returns the number of bytes to insert and to delete to change one text into the other. A replaced byte counts as both, because
// names are more often shortened than misspelt.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change += 2
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
