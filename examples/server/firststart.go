package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/access"
)

// firstOrg is the organization that every node of a new deployment starts with.
const firstOrg callwright.OrgID = "00000000-0000-7000-8000-000000000001"

// apiKeyFile is where the first key is kept for the tools of this machine.
func apiKeyFile(c config) string { return filepath.Join(c.Data, "api-key") }

// firstStart makes the organization and a key to it, unless the organization is there: in one transaction, so that there is
// no key without a new organization and no organization without a key. The people of the organization are the operators of the
// deployment. The files of the keys are written before the commit, because nobody could read them afterwards. The key is printed
// this once, to a terminal only.
func firstStart(ctx context.Context, c config, s secrets, keys *access.Service, db callwright.Atomic) error {
	var key access.NewKey
	kept := keyFile{path: apiKeyFile(c)}
	err := db.Do(ctx, func(ctx context.Context) (err error) {
		if _, err = keys.CreateOrganization(ctx, firstOrg, "My organization", callwright.EntitlementSIP, callwright.EntitlementOperator); err != nil {
			return err
		}
		if key, err = keys.CreateKey(ctx, firstOrg, "first key", 0); err != nil {
			return err
		}
		if s.Keep != nil {
			if err := s.Keep(); err != nil {
				return err
			}
		}
		return kept.write(key.Key)
	})
	if errors.Is(err, callwright.ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	if terminal(os.Stdout) {
		fmt.Printf("API key of the new organization, shown once and kept in %s:\n  %s\n", apiKeyFile(c), key.Key.Reveal())
	} else { // a log, which more people read than the file
		fmt.Printf("API key of the new organization: in the file %s\n", apiKeyFile(c))
	}
	return nil
}

// terminal reports whether a file is a terminal, and not a log.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// keyFile is the file of an API key.
type keyFile struct {
	path  string
	moved bool // a key to another database is out of the way
}

// write writes a key, also again. A key that was there, to another database, stays beside it.
func (f *keyFile) write(key callwright.Secret) error {
	if !f.moved {
		if err := os.Rename(f.path, f.path+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		f.moved = true
	}
	return replaceFile(f.path, []byte(key.Reveal()+"\n"))
}

// webhookSecretFile is where the secret stands that signs the first organization's webhooks.
func webhookSecretFile(c config) string { return filepath.Join(c.Data, "webhook-secret") }

// writeWebhookSecret writes that file, for those who check signatures.
func writeWebhookSecret(ctx context.Context, c config, tenants callwright.Tenants) error {
	org, err := tenants.Organization(ctx, firstOrg)
	if err != nil {
		return err
	}
	return replaceFile(webhookSecretFile(c), []byte(org.WebhookSecret.Reveal()+"\n"))
}

// setContact makes --contact-email, where it is given, the address of the first organization.
func setContact(ctx context.Context, c config, keys *access.Service) error {
	if c.ContactEmail == "" {
		return nil
	}
	_, err := keys.UpdateOrganization(ctx, firstOrg, access.OrganizationChange{ContactEmail: &c.ContactEmail})
	return err
}
