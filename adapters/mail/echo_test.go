package mail_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/mail"
)

// echo starts a server for one connection and returns its address. The server sends reply in answer to one command, which the parameter at
// names, and accepts all other commands.
func echo(t *testing.T, at, reply string) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprint(c, "220 test\r\n")
		for lines := bufio.NewScanner(c); lines.Scan(); {
			verb, _, _ := strings.Cut(lines.Text(), " ")
			switch {
			case verb == at:
				fmt.Fprint(c, reply+"\r\n")
			case verb == "EHLO":
				fmt.Fprint(c, "250-test\r\n250 AUTH PLAIN\r\n")
			case verb == "AUTH":
				fmt.Fprint(c, "235 welcome\r\n")
			default:
				fmt.Fprint(c, "250 fine\r\n")
			}
		}
	}()
	return listener.Addr().String()
}

// TestServerThatEchoesThePassword checks that neither the log nor the error, which is stored with the task, contains the password from a
// server's reply, in any form.
func TestServerThatEchoesThePassword(t *testing.T) {
	t.Parallel()
	token := base64.StdEncoding.EncodeToString([]byte("\x00ops@example.com\x00hunter2-pw"))
	for name, test := range map[string]struct {
		at, reply string
		says      string // the text that the operator must still see
	}{
		"refused":               {"AUTH", "535 5.7.8 bad password hunter2-pw", "535"},
		"refused for now":       {"AUTH", "454 4.7.0 try AUTH PLAIN " + token + " later", "454"},
		"no answer of SMTP":     {"AUTH", "what is hunter2-pw?", ""},
		"an endless exchange":   {"AUTH", "334 " + token, ""},
		"in the greeting":       {"EHLO", "550 hunter2-pw", ""},
		"of the sender":         {"MAIL", "451 4.1.1 " + token, "451"},
		"of the sender, final":  {"MAIL", "550 5.1.1 hunter2-pw", "550"},
		"of the recipient":      {"RCPT", "550 5.1.1 hunter2-pw", "550"},
		"of the recipient, now": {"RCPT", "450 4.1.1 hunter2-pw", "450"},
		"of the message":        {"DATA", "554 5.1.1 hunter2-pw", "554"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged bytes.Buffer
			address := url("smtp", "ops%40example.com:hunter2-pw@"+echo(t, test.at, test.reply))
			c := client(t, mail.SMTPConfig{URL: address, Runtime: callwright.Runtime{Logger: slog.New(slog.NewTextHandler(&logged, nil))}})
			err := send(t, c)
			for e := err; e != nil; e = errors.Unwrap(e) {
				fmt.Fprintln(&logged, e)
			}
			text := logged.String()
			if strings.Contains(text, "hunter2") || strings.Contains(text, token[:12]) {
				t.Errorf("the password is told: %s", text)
			}
			if !strings.Contains(text, test.says) || text == "" {
				t.Errorf("told %q, want %q in it", text, test.says)
			}
			if code := callwright.CodeOf(err); err != nil && code != callwright.CodeUnavailable && code != callwright.CodeForbidden {
				t.Errorf("got %v", err)
			}
		})
	}
}
