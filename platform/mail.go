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

// mailedBy describes the destination of mail, human-readable.
type mailedBy string

// newMailer sends by the program's mailer or the server of --smtp-url, or writes files into the data folder.
func newMailer(lc fx.Lifecycle, c Config, rt callwright.Runtime) (callwright.Mailer, mailedBy, error) {
	if c.Mailer != nil {
		return c.Mailer, "the program's mailer", nil
	}
	if c.SMTPURL != "" {
		s, err := mail.NewSMTP(mail.SMTPConfig{URL: c.SMTPURL, From: c.MailFrom, Runtime: rt})
		if err != nil {
			return nil, "", fmt.Errorf("--smtp-url and --mail-from: %w", err)
		}
		u, _ := url.Parse(c.SMTPURL.Reveal()) // checked by NewSMTP, whose errors do not show the password
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
