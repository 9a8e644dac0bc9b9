package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/mail"
)

// mailer sends mail, and says to people where it goes.
type mailer struct {
	callwright.Mailer
	by string
}

// newMailer sends by the server of --smtp-url, or writes files into the data folder.
func newMailer(lc fx.Lifecycle, c config, log *slog.Logger) (mailer, error) {
	if c.SMTPURL != "" {
		s, err := mail.NewSMTP(mail.SMTPConfig{URL: callwright.Secret(c.SMTPURL), From: c.MailFrom, Logger: log})
		if err != nil {
			return mailer{}, fmt.Errorf("--smtp-url and --mail-from: %w", err)
		}
		u, _ := url.Parse(c.SMTPURL) // checked by NewSMTP, whose errors do not show the password
		return mailer{s, u.Host}, nil
	}
	folder := filepath.Join(c.Data, "mail")
	f, err := mail.NewFolder(mail.FolderConfig{Path: folder, From: cmp.Or(c.MailFrom, "callwright@localhost"), Logger: log})
	if err != nil {
		return mailer{}, fmt.Errorf("--mail-from: %w", err)
	}
	lc.Append(fx.StopHook(f.Close))
	return mailer{f, "files in the folder mail of the data folder"}, nil
}
