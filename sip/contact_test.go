package sip_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// TestCallsToTheContact checks that a call to a registered Contact is admitted from any address, because only the registrar knows the
// Contact.
func TestCallsToTheContact(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, registering("sip:x.example"))
	h.attach("b", []string{two}, registering("sip:x.example"))
	h.attach("c", []string{"+15550000003"}, inbound())
	first, second := h.get("a", one).Inbound, h.get("b", two).Inbound
	user := first.ContactUser()
	if n, ok := sip.ContactNumber(user); !ok || n != one || user == second.ContactUser() || user != first.ContactUser() {
		t.Errorf("%q is %s, %t", user, n, ok)
	}
	if len(strings.TrimPrefix(user, one+"-")) != 32 {
		t.Errorf("%q can be guessed", user)
	}
	for name, tt := range map[string]struct {
		to       callwright.PhoneNumber
		contact  string
		admitted bool
	}{
		"its own":           {one, user, true},
		"without its plus":  {one, user[1:], true},
		"none":              {one, "", false},
		"the number":        {one, one, false},
		"another trunk's":   {two, user, false},
		"half of it":        {one, user[:len(user)-1], false},
		"in capitals":       {one, strings.ToUpper(user), false},
		"of no secret":      {"+15550000003", sip.Trunk{Number: "+15550000003"}.ContactUser(), true}, // has no address list
		"another's own one": {two, second.ContactUser(), true},
	} {
		peer := sip.Peer{Address: netip.MustParseAddr("192.0.2.9"), Contact: tt.contact}
		_, err := h.Inbound(t.Context(), tt.to, peer)
		if tt.admitted != (err == nil) || err != nil && !errors.Is(err, callwright.ErrForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if (sip.Trunk{Number: one, Options: sip.Options{AuthMode: sip.AuthRegister}}).ContactUser() == user {
		t.Error("the Contact needs no secret")
	}
}

// TestContactsAreRedacted checks that RedactContacts hides the secret of a Contact even if the Contact is changed, as other systems do, but
// leaves phone numbers and ordinary texts.
func TestContactsAreRedacted(t *testing.T) {
	t.Parallel()
	user := sip.Trunk{Number: one, Options: sip.Options{Register: sip.Credentials{Password: "p"}}}.ContactUser()
	secret := strings.TrimPrefix(user, one+"-")
	for _, changed := range []string{
		user, user[1:], user + "x", user[:len(user)-2], "00" + user[1:], strings.ToUpper(user), strings.Replace(user, "-", "", 1),
		strings.Replace(user, "-", "%2D", 1), strings.Replace(user, "-", "-x.", 1), "x" + user, "<sip:" + user + "@pbx.example>;expires=60",
	} {
		got := sip.RedactContacts(changed)
		for i := range len(secret) - 8 {
			if strings.Contains(strings.ToLower(got), secret[i:i+8]) {
				t.Errorf("%q shows %q", got, secret[i:i+8])
				break
			}
		}
	}
	if got := sip.RedactContacts("<sip:" + user + "@pbx.example>"); got != "<sip:"+one+"-…@pbx.example>" {
		t.Errorf("%q hides more", got)
	}
	for _, text := range []string{"", one, "+1-555-000-0001", "+49(0)30-1234567", "550e8400-e29b-41d4-a716-446655440000", "Temporarily Unavailable", "anonymous", strings.Repeat("c", 100)} {
		if got := sip.RedactContacts(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func FuzzContactNumber(f *testing.F) {
	f.Add("+15550000001-" + strings.Repeat("a", 32))
	f.Add("15550000001-" + strings.Repeat("a", 32))
	f.Add("+15550000001")
	f.Fuzz(func(t *testing.T, user string) {
		n, ok := sip.ContactNumber(user)
		if ok && !strings.HasPrefix("+"+strings.TrimPrefix(user, "+"), n.String()+"-") || !ok && n != "" && strings.HasPrefix(user, n.String()+"-") {
			t.Errorf("%q: %q, %t", user, n, ok)
		}
	})
}
