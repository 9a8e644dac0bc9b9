package callwright

import "regexp"

// Redacted is the text that replaces a secret in logs and messages.
const Redacted = "[redacted]"

// secretNames matches the names of credentials, in texts and as names of variables.
const secretNames = `(?:[\w-]*[_-])?(?:api[_-]?key|apikey|authorization|access[_-]?token|auth[_-]?token|token|secret|password|passwd)` //nolint:gosec // no credential

var secretName = regexp.MustCompile(`(?i)^` + secretNames + `$`)

// credentials lists the patterns of credentials and their replacements.
var credentials = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}`), "$1 " + Redacted},
	{regexp.MustCompile(`\b(?:sk|pk|rk|ghp|gho|xox[abprs]|whsec|AKIA)[-_]?[A-Za-z0-9_-]{12,}`), Redacted},
	{regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*`), Redacted}, // a JSON web token
	{regexp.MustCompile(`(?i)\b(` + secretNames + `)(\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;&]{4,}`), "$1$2" + Redacted},
	{regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+@`), "$1" + Redacted + "@"},
}

// Redact returns text with likely credentials replaced by Redacted. It cannot recognize every credential.
func Redact(text string) string {
	for _, c := range credentials {
		text = c.pattern.ReplaceAllString(text, c.instead)
	}
	return text
}

// Credentials returns the parts of a text that Redact would change. A part may include text before the credential, such as its name.
func Credentials(text string) (found []string) {
	for _, c := range credentials {
		for _, part := range c.pattern.FindAllString(text, -1) {
			if c.pattern.ReplaceAllString(part, c.instead) != part {
				found = append(found, part)
			}
		}
	}
	return found
}

// NamesSecret reports whether a variable, a parameter or a header with this name is likely to hold a credential.
func NamesSecret(name string) bool { return secretName.MatchString(name) }
