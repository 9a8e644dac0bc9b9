package platform

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/mail"
)

// mailedBy describes where mail is sent, human-readable.
type mailedBy string

// newMailer returns the program's mailer, or a mailer that uses --smtp-url, or else a mailer that writes files to the data folder.
func newMailer(lc fx.Lifecycle, c Config, rt callwright.Runtime) (callwright.Mailer, mailedBy, error) {
	if c.Mailer != nil {
		return c.Mailer, "the program's mailer", nil
	}
	if c.SMTPURL != "" {
		s, err := mail.NewSMTP(mail.SMTPConfig{URL: c.SMTPURL, From: c.MailFrom, Runtime: rt})
		if err != nil {
			return nil, "", fmt.Errorf("--smtp-url and --mail-from: %w", err)
		}
		u, _ := url.Parse(c.SMTPURL.Reveal()) // NewSMTP has checked the URL; its errors do not contain the password
		return s, mailedBy(u.Host), nil
	}
	folder := filepath.Join(c.Data, "mail")
	f, err := mail.NewFolder(mail.FolderConfig{Path: folder, From: cmp.Or(c.MailFrom, "callwright@localhost"), Runtime: rt})
	if err != nil {
		return nil, "", fmt.Errorf("--mail-from: %w", err)
	}
	lc.Append(fx.StopHook(f.Close))
	return f, "files in the folder mail of the data folder", nil
}
