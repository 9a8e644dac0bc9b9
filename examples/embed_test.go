package examples_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestEmbeddingPrograms runs the programs as a reader would.
func TestEmbeddingPrograms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ input, output string }{
		"embed-agent": {
			"hmm\nTuesday would be fine\nin the afternoon please\n",
			"Which day suits you?\nMonday or Tuesday?\nMorning or afternoon?\nIt is booked.\nGoodbye.\n",
		},
		"embed-sip": {
			"",
			"attached: [+15551234567] failed: not a number because it must be an E.164 phone number such as +15551234567\n" +
				"a call out goes to sip:pbx.example.com;transport=tls and then to sip:backup.example.com:5071;transport=tls\n" +
				"a call in belongs to acme\nthe trunk is unchecked\n",
		},
		"embed-triage": {
			"",
			`Ada Park: session_started ""
Ada Park: prompt "why since Monday?"
Log reader: action "reading the log about: why since Monday?"
Log reader: artifact "The disk is full"
Log reader: session_stopped ""
elsewhere: issue not found true
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := exec.CommandContext(t.Context(), "go", "run", "./"+name)
			program.Stdin = strings.NewReader(test.input)
			got, err := program.CombinedOutput()
			if err != nil || string(got) != test.output {
				t.Errorf("%v, printed:\n%s\nwant:\n%s", err, got, test.output)
			}
		})
	}
}
