// Package mailbox is a mail server for tests, which stores the mail that it receives.
package mailbox

import (
	"bytes"
	"io"
	"log/slog"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/callwright/callwright/internal/await"
)

// Mail is a message that has come.
type Mail struct {
	ID      string // its Message-ID
	To      string
	Subject string
	Text    string
}

// Box is an SMTP server without TLS, at a loopback address.
type Box struct {
	URL string // for --smtp-url

	mu      sync.Mutex
	mails   []Mail
	ids     map[[2]string]bool // of the mails, by address and Message-ID
	refused map[string]bool    // addresses
	faults  []error
}

// Start starts a server, which ends with the test.
func Start(t testing.TB) *Box {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &Box{URL: "smtp://" + listener.Addr().String(), refused: map[string]bool{}, ids: map[[2]string]bool{}}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{box: b}, nil }))
	server.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		_ = listener.Close() // the server may not know it yet
		_ = server.Close()
		serving.Wait()
		for _, err := range b.faults {
			t.Errorf("a mail cannot be read: %v", err)
		}
	})
	return b
}

// Refuse makes the server refuse an address permanently.
func (b *Box) Refuse(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused[address] = true
}

// Mails returns the mails to an address in the order in which they came.
func (b *Box) Mails(to string) (found []Mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.mails {
		if m.To == to {
			found = append(found, m)
		}
	}
	return found
}

// Has reports whether a mail to an address has come, by its Message-ID.
func (b *Box) Has(to, id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ids[[2]string{to, id}]
}

// Await waits for a mail to an address whose subject has a text in it.
func (b *Box) Await(t testing.TB, to, subject string) (found Mail) {
	t.Helper()
	await.That(t, "a mail to "+to+" about "+subject, func() bool {
		for _, m := range b.Mails(to) {
			if strings.Contains(m.Subject, subject) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// session is a connection to a Box.
type session struct {
	box *Box
	to  string
}

func (s *session) Reset()                             { s.to = "" }
func (*session) Logout() error                        { return nil }
func (*session) Mail(string, *smtp.MailOptions) error { return nil }

// Rcpt accepts a recipient. The last one gets the mail.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	if s.box.refused[to] {
		return &smtp.SMTPError{Code: 550, Message: "no such user"}
	}
	s.to = to
	return nil
}

// Data takes a message.
func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := read(data)
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	if err != nil {
		s.box.faults = append(s.box.faults, err)
		return nil
	}
	m.To = s.to
	s.box.mails = append(s.box.mails, m)
	s.box.ids[[2]string{m.To, m.ID}] = true
	return nil
}

// read reads a message of plain text, as mail programs do.
func read(data []byte) (Mail, error) {
	m, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		return Mail{}, err
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		return Mail{}, err
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	return Mail{ID: m.Header.Get("Message-Id"), Subject: subject, Text: strings.ReplaceAll(string(body), "\r\n", "\n")}, err
}
