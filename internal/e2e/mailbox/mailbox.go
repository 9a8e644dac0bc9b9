// Package mailbox runs an SMTP server for tests, and stores the received mails.
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

// Mail is a received mail in decoded form.
type Mail struct {
	ID      string // its Message-ID
	To      string
	Subject string
	Text    string
}

// Box is an SMTP server without TLS on a loopback address.
type Box struct {
	URL string // value for --smtp-url

	mu      sync.Mutex
	mails   []Mail
	ids     map[[2]string]bool // received mails, by address and Message-ID
	refused map[string]bool    // refused addresses
	faults  []error
}

// Start starts a server that stops at the end of the test.
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
		_ = listener.Close() // Serve may not have registered it yet
		_ = server.Close()
		serving.Wait()
		for _, err := range b.faults {
			t.Errorf("a mail cannot be read: %v", err)
		}
	})
	return b
}

// Refuse makes the server refuse mails to an address with 550.
func (b *Box) Refuse(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused[address] = true
}

// Mails returns the mails to an address in the order of their arrival.
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

// Has reports whether a mail with this Message-ID has arrived for an address.
func (b *Box) Has(to, id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ids[[2]string{to, id}]
}

// Await waits for a mail to an address whose subject contains a text, and returns it.
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

// session is an SMTP session of a client.
type session struct {
	box *Box
	to  string
}

func (s *session) Reset()                             { s.to = "" }
func (*session) Logout() error                        { return nil }
func (*session) Mail(string, *smtp.MailOptions) error { return nil }

// Rcpt accepts a recipient, unless Refuse was called for it. Of several recipients only the last receives the mail.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	if s.box.refused[to] {
		return &smtp.SMTPError{Code: 550, Message: "no such user"}
	}
	s.to = to
	return nil
}

// Data stores a mail, or the error if its text cannot be decoded.
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

// read decodes a plain text mail: its header, and its quoted-printable body.
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
