package mail_test

import (
	"bytes"
	"io"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/mail"
	"github.com/callwright/callwright/callwrighttest"
)

func TestMailers(t *testing.T) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		callwrighttest.RunMailer(t, func(t *testing.T) callwrighttest.Mailbox {
			f, path := folder(t)
			return callwrighttest.Mailbox{Mailer: f, Sent: func(t *testing.T) (sent []callwrighttest.Mail) {
				for _, name := range files(t, path) {
					message, err := os.ReadFile(filepath.Join(path, name))
					if err != nil {
						t.Fatal(err)
					}
					sent = append(sent, read(t, message))
				}
				return sent
			}}
		})
	})
	t.Run("SMTP", func(t *testing.T) {
		t.Parallel()
		callwrighttest.RunMailer(t, func(t *testing.T) callwrighttest.Mailbox {
			s := &sink{}
			c := client(t, mail.SMTPConfig{URL: url("smtp", serve(t, s, nil))})
			return callwrighttest.Mailbox{Mailer: c, Sent: func(t *testing.T) (sent []callwrighttest.Mail) {
				for _, message := range s.received() {
					sent = append(sent, read(t, message))
				}
				return sent
			}}
		})
	})
}

// read parses a message, and decodes its subject and body.
func read(t *testing.T, message []byte) callwrighttest.Mail {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	return callwrighttest.Mail{
		To: strings.Trim(m.Header.Get("To"), "<>"), Subject: subject, Text: strings.ReplaceAll(string(body), "\r\n", "\n"),
	}
}
