package examples_test

import (
	"bufio"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEmbeddingPrograms checks the output of the embed-* programs except embed-call, run with "go run".
func TestEmbeddingPrograms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ input, output string }{
		"embed-agent": {
			"hmm\nTuesday would be fine\nin the afternoon please\n",
			"Which day suits you?\nMonday or Tuesday?\nMorning or afternoon?\nIt is booked.\nGoodbye.\n",
		},
		"embed-api":      {"", "POST /v1/triage/issues 201\nGET /about 200\nGET /v1/calls 404\n"},
		"embed-platform": {"", "[Who is there?] [You said: Good morning.]\n"},
		"embed-signin": {
			"", "/sign-in  200\n/sign-in session=adas 200\n/calls  401\n/calls session=adas 200\n" +
				"/v1/calls  401\n/v1/calls session=adas 200\n/healthz  200\n/healthz session=adas 200\n",
		},
		"embed-sip": {
			"",
			"attached: [+15551234567] failed: not a number because it must be an E.164 phone number such as +15551234567\n" +
				"a call out goes to sip:pbx.example.com;transport=tls and then to sip:backup.example.com:5071;transport=tls\n" +
				"a call in belongs to acme\n",
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

// TestEmbedCall checks that embed-call answers a call from the softphone.
func TestEmbedCall(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	bin, data := t.TempDir(), t.TempDir()
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, "./embed-call", "./softphone").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	server := exec.CommandContext(ctx, filepath.Join(bin, "embed-call"), "-listen", "127.0.0.1:0", "-data", data)
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = server.Wait() // returns the error of the killed process
	}()
	lines := bufio.NewScanner(output)
	if !lines.Scan() {
		t.Fatal("the program prints nothing")
	}
	uri, _ := strings.CutPrefix(lines.Text(), "listening at ")
	phone := exec.CommandContext(ctx, filepath.Join(bin, "softphone"), "--listen", "127.0.0.1:0", "--data", data,
		"--dial", "+15550000001", "--server", uri, "--say", "Is anybody there?")
	if out, err := phone.CombinedOutput(); err != nil {
		t.Fatalf("softphone: %v\n%s", err, out)
	}
	var got []string
	for lines.Scan() {
		got = append(got, strings.TrimSpace(lines.Text()))
		if strings.HasPrefix(lines.Text(), "ended") {
			break
		}
	}
	has := func(start, end string) bool {
		return slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, start) && strings.HasSuffix(line, end) })
	}
	if !has("line assistant Say something.", "") || !has("line user ", " milliseconds") || !has("line assistant I heard ", "Goodbye.") || !has("ended", "") {
		t.Errorf("printed %q", got)
	}
}
