package sdp_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/callwright/callwright/sip/sdp"
)

// TestKeysDoNotPrint checks that no verb, logger or encoder reveals a Key, even in an unexported field of another type.
func TestKeysDoNotPrint(t *testing.T) {
	t.Parallel()
	d := parse(t, audio("t=0 0", "t=0 0", "k=base64:"+keyA, "a=key-mgmt:mikey "+keyA)+
		"A=CRYPTO:2 X INLINE:"+keyA+"|1:1 FEC_KEY=inline:"+keyA+"\r\n"+
		"a=crypto:3 X uri:"+keyA+"\r\n")
	answer, n, err := sdp.Answer(capabilities(sdp.PCMU), d)
	if err != nil {
		t.Fatal(err)
	}
	key := n.RemoteCrypto.Key
	hidden := struct {
		key sdp.Key
		n   sdp.Negotiated
		d   *sdp.Description
	}{key, n, d}
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&b, verb+verb+verb+verb+verb+"\n", key, &key, n, hidden, n.LocalCrypto)
	}
	text := slog.New(slog.NewTextHandler(&b, nil))
	text.Info("x", "key", key, "negotiated", n, "crypto", n.RemoteCrypto, "offer", d, "answer", answer)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "key", key, "negotiated", n, "crypto", n.RemoteCrypto, "offer", d)
	if err := json.NewEncoder(&b).Encode(map[string]any{"key": key, "n": n}); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, d.String(), answer.String(), key.String(), key.GoString(), n.LogValue())

	local := append(n.LocalCrypto.Key.Master(), n.LocalCrypto.Key.Salt()...)
	for _, secret := range []string{
		keyA, "0123456789abcdef", fmt.Sprintf("%x", "0123456789"), "48 49 50", base64.StdEncoding.EncodeToString(local),
		string(local), fmt.Sprintf("%x", local[:8]), strings.Trim(fmt.Sprint(local[:4]), "[]"),
	} {
		if strings.Contains(strings.ToLower(b.String()), strings.ToLower(secret)) {
			t.Errorf("%q is shown in\n%s", secret, b.String())
		}
	}
	if !strings.Contains(string(answer.Bytes()), base64.StdEncoding.EncodeToString(local)) {
		t.Error("the answer on the wire lacks the key")
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	a, err := sdp.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sdp.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var none sdp.Key
	if !a.Equal(a) || a.Equal(b) || a.Equal(none) || none.Equal(a) || !none.Equal(none) {
		t.Error("Equal is wrong")
	}
	if len(a.Master()) != 16 || len(a.Salt()) != 14 || a.IsZero() || !none.IsZero() || none.Master() != nil || none.Salt() != nil {
		t.Error("the parts are wrong")
	}
	a.Master()[0]++
	if again := a.Master(); !bytes.Equal(again, a.Master()) || &again[0] == &a.Master()[0] {
		t.Error("Master gives out its own memory")
	}
	if _, err := sdp.NewKey(strings.NewReader("too short")); err == nil {
		t.Error("a key from nine bytes")
	}
}
