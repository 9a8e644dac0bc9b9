package mail_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/mail"
	"github.com/callwright/callwright/adapters/testca"
)

// check checks the headers of a received message, and compares its subject and body with the sent ones.
func check(t *testing.T, m *netmail.Message, subject, text string) {
	t.Helper()
	var words mime.WordDecoder
	if got, err := words.DecodeHeader(m.Header.Get("Subject")); err != nil || got != subject {
		t.Errorf("subject %q, %v", got, err)
	}
	for name, want := range map[string]string{
		"From": "<callwright@example.com>", "To": "<ops@example.com>", "Message-Id": "<t1.unreachable.1@example.com>",
		"Date": "Mon, 04 May 2026 12:00:00 +0000", "Auto-Submitted": "auto-generated",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if got := strings.ReplaceAll(string(body), "\r\n", "\n"); err != nil || got != text {
		t.Errorf("text %q, %v; want %q", got, err, text)
	}
}

// sink is an SMTP server that stores the received messages.
type sink struct {
	mu       sync.Mutex
	messages [][]byte
	refuse   *smtp.SMTPError // if not nil, the reply to RCPT
	reject   *smtp.SMTPError // if not nil, the reply to the message
}

func (s *sink) NewSession(*smtp.Conn) (smtp.Session, error) { return s, nil }

func (*sink) Reset()                               { /* nothing is kept of a message under way */ }
func (*sink) Logout() error                        { return nil }
func (*sink) Mail(string, *smtp.MailOptions) error { return nil }
func (s *sink) Rcpt(string, *smtp.RcptOptions) error {
	if s.refuse != nil {
		return s.refuse
	}
	return nil
}

func (s *sink) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.reject != nil {
		return s.reject
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, b)
	return nil
}

func (s *sink) received() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages
}

// serve runs a sink until the test ends, and returns its address. set may be nil, or may change the server and replace the listener.
func serve(t *testing.T, s *sink, set func(server *smtp.Server, l net.Listener) net.Listener) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := smtp.NewServer(s)
	server.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	address := listener.Addr().String()
	if set != nil {
		listener = set(server, listener)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		listener.Close() // Serve may not have registered the listener yet
		server.Close()
		serving.Wait()
	})
	return address
}

func client(t *testing.T, c mail.SMTPConfig) *mail.SMTP {
	t.Helper()
	c.From, c.Clock = "callwright@example.com", noon{}
	s, err := mail.NewSMTP(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func url(scheme, address string) callwright.Secret {
	return callwright.Secret(scheme + "://" + address)
}

func send(t *testing.T, s *mail.SMTP) error {
	t.Helper()
	return s.SendMail(t.Context(), "t1.unreachable.1", "ops@example.com", "Störung", "Der Zähler steht.\n.\nEnde\n")
}

func TestSMTPPlainOnThisMachine(t *testing.T) {
	t.Parallel()
	s := &sink{}
	if err := send(t, client(t, mail.SMTPConfig{URL: url("smtp", serve(t, s, nil))})); err != nil {
		t.Fatal(err)
	}
	got := s.received()
	if len(got) != 1 {
		t.Fatalf("%d messages came", len(got))
	}
	m, err := netmail.ReadMessage(bytes.NewReader(got[0]))
	if err != nil {
		t.Fatal(err)
	}
	check(t, m, "Störung", "Der Zähler steht.\n.\nEnde\n")
}

func authority(t *testing.T) (*testca.Authority, *tls.Config) {
	t.Helper()
	ca, err := testca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := ca.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return ca, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
}

func TestSMTPOverTLS(t *testing.T) {
	t.Parallel()
	ca, config := authority(t)
	s := &sink{}
	address := serve(t, s, func(_ *smtp.Server, l net.Listener) net.Listener { return tls.NewListener(l, config) })
	if err := send(t, client(t, mail.SMTPConfig{URL: url("smtps", address), Roots: ca.Pool()})); err != nil {
		t.Fatal(err)
	}
	if n := len(s.received()); n != 1 {
		t.Errorf("%d messages came", n)
	}
	err := send(t, client(t, mail.SMTPConfig{URL: url("smtps", address)}))
	if callwright.CodeOf(err) != callwright.CodeUnavailable || len(s.received()) != 1 {
		t.Errorf("a server with an unknown certificate: %v, %d messages", err, len(s.received()))
	}
}

// TestSMTPUpgrades checks that a client with the smtp URL of a remote server sends mail only if the server offers STARTTLS.
func TestSMTPUpgrades(t *testing.T) {
	t.Parallel()
	ca, config := authority(t)
	upgrading, plain := &sink{}, &sink{}
	upgrade := func(server *smtp.Server, l net.Listener) net.Listener { server.TLSConfig = config; return l }
	for s, address := range map[*sink]string{upgrading: serve(t, upgrading, upgrade), plain: serve(t, plain, nil)} {
		c, err := mail.NewRemoteSMTP(mail.SMTPConfig{
			URL: url("smtp", address), From: "callwright@example.com", Roots: ca.Pool(), Runtime: callwright.Runtime{Clock: noon{}},
		})
		if err != nil {
			t.Fatal(err)
		}
		sent := 0
		if s == upgrading {
			sent = 1
		}
		if err := send(t, c); (err == nil) != (sent == 1) || len(s.received()) != sent {
			t.Errorf("got %v, %d messages; want %d", err, len(s.received()), sent)
		}
	}
}

// TestSMTPAnswers checks that a 5xx reply causes CodeForbidden, and a 4xx reply CodeUnavailable.
func TestSMTPAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sink *sink
		want callwright.Code
	}{
		"unknown mailbox": {&sink{refuse: &smtp.SMTPError{Code: 550, Message: "no such user"}}, callwright.CodeForbidden},
		"greylisted":      {&sink{refuse: &smtp.SMTPError{Code: 451, Message: "come back later"}}, callwright.CodeUnavailable},
		"spam":            {&sink{reject: &smtp.SMTPError{Code: 554, Message: "no"}}, callwright.CodeForbidden},
		"full":            {&sink{reject: &smtp.SMTPError{Code: 452, Message: "full"}}, callwright.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := send(t, client(t, mail.SMTPConfig{URL: url("smtp", serve(t, test.sink, nil))}))
			if callwright.CodeOf(err) != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestSMTPRefusesToInject(t *testing.T) {
	t.Parallel()
	s := &sink{}
	c := client(t, mail.SMTPConfig{URL: url("smtp", serve(t, s, nil))})
	for _, m := range [][2]string{{"ops@example.com\r\nRCPT TO:<x@example.com>", "s"}, {"ops@example.com", "s\r\nBcc: x@example.com"}} {
		if err := c.SendMail(t.Context(), "id", m[0], m[1], "text"); !errors.Is(err, callwright.ErrForbidden) {
			t.Errorf("%q: %v", m, err)
		}
	}
	if n := len(s.received()); n != 0 {
		t.Errorf("%d messages came", n)
	}
}

// TestSMTPAuthenticates checks that the client sends the decoded user and password, and that SendMail succeeds although the server hangs up
// after the message.
func TestSMTPAuthenticates(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan []string, 1)
	go func() { heard <- converse(listener) }()
	t.Cleanup(func() { listener.Close() })
	if err := send(t, client(t, mail.SMTPConfig{URL: url("smtp", "ops%40example.com:p%3Ass@"+listener.Addr().String())})); err != nil {
		t.Fatal(err)
	}
	want := "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00ops@example.com\x00p:ss"))
	if got := <-heard; len(got) < 2 || got[1] != want {
		t.Errorf("heard %q", got)
	}
}

// converse serves one SMTP session up to the message, then closes the connection, and returns the client's commands.
func converse(l net.Listener) (commands []string) {
	c, err := l.Accept()
	if err != nil {
		return nil
	}
	defer c.Close()
	fmt.Fprint(c, "220 test\r\n")
	for lines := bufio.NewScanner(c); lines.Scan(); {
		line := lines.Text()
		commands = append(commands, line)
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "EHLO":
			fmt.Fprint(c, "250-test\r\n250 AUTH PLAIN\r\n")
		case "AUTH":
			fmt.Fprint(c, "235 welcome\r\n")
		case "DATA":
			fmt.Fprint(c, "354 go on\r\n")
			for lines.Scan() && lines.Text() != "." {
				continue
			}
			fmt.Fprint(c, "250 taken\r\n")
			return commands
		default:
			fmt.Fprint(c, "250 fine\r\n")
		}
	}
	return commands
}

// TestFailureHidesPassword checks that neither the error for an unreachable server, which is logged, nor the printed client contains the
// password.
func TestFailureHidesPassword(t *testing.T) {
	t.Parallel()
	c := client(t, mail.SMTPConfig{URL: url("smtp", "ops:hush@127.0.0.1:1")}) // no server listens on port 1
	err := send(t, c)
	if callwright.CodeOf(err) != callwright.CodeUnavailable || strings.Contains(err.Error(), "hush") {
		t.Errorf("got %v", err)
	}
	if shown := fmt.Sprintf("%v %+v %#v", c, c, *c); strings.Contains(shown, "hush") {
		t.Errorf("printed, the client shows its password: %s", shown)
	}
}

func TestNewSMTP(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"smtp://mail.example.com": true, "smtps://u:p@mail.example.com:465": true, "smtp://[::1]:25": true,
		"http://mail.example.com": false, "mail.example.com": false, "smtp://": false, "": false, "smtp://a b": false,
		"smtp://mail.example.com:99999": false, "ftp://u:hush@mail.example.com": false, "smtp://u:hush@a b": false,
	} {
		_, err := mail.NewSMTP(mail.SMTPConfig{URL: callwright.Secret(text), From: "a@example.com"})
		if (err == nil) != want {
			t.Errorf("%q gave %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("the error has the password in it: %v", err)
		}
	}
	if _, err := mail.NewSMTP(mail.SMTPConfig{URL: "smtp://ops%40example.com:x@mail.example.com"}); err != nil {
		t.Errorf("a user that is an address is no sender: %v", err)
	}
	if _, err := mail.NewSMTP(mail.SMTPConfig{URL: "smtp://ops:x@mail.example.com"}); err == nil {
		t.Error("there is no sender, and no error")
	}
}
