package header_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/header"
)

func custom(key, value string) header.Rule {
	return header.Rule{Custom: &header.Custom{Key: key, Value: value}}
}

func constant(key, value string) header.Rule {
	return header.Rule{Custom: &header.Custom{Key: key, Value: value, Passthrough: true}}
}

func uui(u header.UUI) header.Rule { return header.Rule{UUI: &u} }

func TestInbound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", header.MaxValue+1)
	for name, test := range map[string]struct {
		rule   header.Rule
		values []string // values of the X-Customer headers
		want   map[string]string
	}{
		"a header":             {custom("x-CUSTOMER", "customer"), []string{" 4711 "}, map[string]string{"customer": "4711"}},
		"two of one name":      {custom("X-Customer", "customer"), []string{"1", "2"}, map[string]string{"customer": "1, 2"}},
		"absent":               {custom("X-Other", "customer"), []string{"4711"}, nil},
		"empty":                {custom("X-Customer", "customer"), []string{" "}, nil},
		"not UTF-8":            {custom("X-Customer", "customer"), []string{"a\xff"}, nil},
		"a control character":  {custom("X-Customer", "customer"), []string{"a\x00b"}, nil},
		"too long":             {custom("X-Customer", "customer"), []string{long}, nil},
		"as long as it may be": {custom("X-Customer", "c"), []string{long[1:]}, map[string]string{"c": long[1:]}},
		"a constant":           {constant("trunk", "head office"), nil, map[string]string{"trunk": "head office"}},
		"no rule at all":       {header.Rule{}, []string{"4711"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var headers []header.Header
			for _, v := range test.values {
				headers = append(headers, header.Header{Name: "X-Customer", Value: v})
			}
			if got := header.Inbound([]header.Rule{test.rule}, headers); !maps.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestInboundUUI(t *testing.T) {
	t.Parallel()
	anyUUI, foo := header.UUI{}, header.UUI{Purpose: "foo"}
	for name, test := range map[string]struct {
		rule  header.UUI
		value string
		want  string
	}{
		"hex":                      {anyUUI, "48656c6C6f;encoding=hex", "Hello"},
		"hex in capitals":          {anyUUI, "48656C6C6F ; ENCODING=HEX", "Hello"},
		"hex in quotes":            {anyUUI, `"48656c6c6f";encoding=hex`, "Hello"},
		"hex as the rule says":     {header.UUI{Encoding: header.Hex}, "48656c6c6f", "Hello"},
		"hex that is no text":      {anyUUI, "00c8103030;encoding=hex", "00c8103030"},
		"hex of lines":             {anyUUI, "410a42;encoding=hex", "A\nB"},
		"text in quotes":           {anyUUI, `"say \"hi\", \\o/; ok"`, `say "hi", \o/; ok`},
		"a token":                  {anyUUI, "4711", "4711"},
		"other parameters":         {anyUUI, `"a";x;y="1;2,3";purpose=bar`, "a"},
		"the second value":         {foo, `"a";purpose=bar, "b";purpose=Foo`, "b"},
		"by content":               {header.UUI{Content: "c"}, `"a";content=d,"b";content=C`, "b"},
		"no purpose is ISDN's":     {header.UUI{Purpose: "isdn-uui"}, `"a"`, "a"},
		"no purpose is not foo":    {foo, `"a"`, ""},
		"the one that can be read": {anyUUI, `zz;encoding=hex, "b"`, "b"},
		"unknown encoding":         {anyUUI, "abcd;encoding=base64", ""},
		"half an octet":            {anyUUI, "abc;encoding=hex", ""},
		"no octets":                {anyUUI, `"";encoding=hex`, ""},
		"no text":                  {anyUUI, `""`, ""},
		"nothing":                  {anyUUI, "", ""},
		"open quotes":              {anyUUI, `"abc`, ""},
		"an open escape":           {anyUUI, `"abc\`, ""},
		"no parameter":             {anyUUI, "abc;", ""},
		"no parameter's value":     {anyUUI, "abc;encoding=", ""},
		"no second value":          {anyUUI, "abc,", ""},
		"rubbish after it":         {anyUUI, "abc def", ""},
		"a line":                   {anyUUI, "\"a\nb\"", ""},
		"too long":                 {anyUUI, `"` + strings.Repeat("a", header.MaxValue) + `"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.rule.Target = "about"
			got := header.Inbound([]header.Rule{uui(test.rule)}, []header.Header{{Name: "user-to-user", Value: test.value}})
			if got["about"] != test.want || len(got) > 1 || len(got) == 1 && test.want == "" {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestOutbound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rule header.Rule
		text string // value of variable "v"
		want header.Header
	}{
		"a variable":           {custom("v", "X-V"), " 4711 ", header.Header{Name: "X-V", Value: "4711"}},
		"an empty variable":    {custom("v", "X-V"), " ", header.Header{}},
		"no variable":          {custom("w", "X-V"), "4711", header.Header{}},
		"another header":       {custom("v", "X-V"), "1\r\nX-Evil: 1", header.Header{}},
		"not UTF-8":            {custom("v", "X-V"), "a\xff", header.Header{}},
		"too long":             {custom("v", "X-V"), strings.Repeat("x", header.MaxValue+1), header.Header{}},
		"a constant":           {constant("X-Trunk", "head office"), "", header.Header{Name: "X-Trunk", Value: "head office"}},
		"hex":                  {uui(header.UUI{Target: "v", Encoding: "hex", Purpose: "foo", Content: "bar"}), "a\nb", header.Header{Name: "User-to-User", Value: "610a62;encoding=hex;purpose=foo;content=bar"}},
		"text":                 {uui(header.UUI{Target: "v"}), `a "b" \`, header.Header{Name: "User-to-User", Value: `"a \"b\" \\"`}},
		"text of two lines":    {uui(header.UUI{Target: "v"}), "a\nb", header.Header{}},
		"no text":              {uui(header.UUI{Target: "v"}), "", header.Header{}},
		"hex that is too long": {uui(header.UUI{Target: "v", Encoding: "hex"}), strings.Repeat("x", header.MaxValue/2), header.Header{}},
		"no rule at all":       {header.Rule{}, "4711", header.Header{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []header.Header
			if test.want.Name != "" {
				want = []header.Header{test.want}
			}
			got := header.Outbound([]header.Rule{test.rule}, map[string]string{"v": test.text})
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestRoundTrip checks that the rules of an inbound trunk recover the variables from the headers that an outbound trunk sends.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	token := rapid.StringMatching(`[a-zA-Z0-9.!%*_+'~` + "`" + `-]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		u := header.UUI{
			Target: "v", Purpose: token.Draw(t, "purpose"), Content: token.Draw(t, "content"),
			Encoding: rapid.SampledFrom([]string{"", header.Hex}).Draw(t, "encoding"),
		}
		rules := []header.Rule{uui(u), custom("w", "X-W")}
		back := []header.Rule{uui(u), custom("x-w", "w")}
		if err := header.CheckOutbound(rules); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"v": rapid.StringMatching(`[ -~äöüß漢]{1,100}`).Draw(t, "v"),
			"w": rapid.StringMatching(`[!-~äöü]([ -~äöü]{0,100}[!-~äöü])?`).Draw(t, "w"),
		}
		if got := header.Inbound(back, header.Outbound(rules, want)); !maps.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", header.MaxName+1)
	for name, test := range map[string]struct {
		rule    header.Rule
		in, out string // field of the error for each direction; empty if valid
	}{
		"a header's name first":   {custom("X-A", "a b"), "", "value"},
		"a variable's name first": {custom("a b", "X-A"), "key", ""},
		"neither kind":            {header.Rule{}, "type", "type"},
		"both kinds":              {header.Rule{Custom: &header.Custom{Key: "a", Value: "b"}, UUI: &header.UUI{Target: "a"}}, "type", "type"},
		"no key":                  {custom("", "X-A"), "key", "key"},
		"no value":                {custom("X-A", ""), "value", "value"},
		"a long name":             {custom(long, long), "key", "key"},
		"a line in a name":        {custom("X-A\r\nX-B", "X-A\r\nX-B"), "key", "key"},
		"a SIP header":            {custom("Contact", "Contact"), "key", "value"},
		"a constant":              {constant("X-A", "1"), "", ""},
		"an empty constant":       {constant("X-A", ""), "value", "value"},
		"two lines":               {constant("X-A", "a\r\nb"), "value", "value"},
		"not UTF-8":               {constant("X-A", "\xff"), "value", "value"},
		"a long constant":         {constant("X-A", strings.Repeat("x", header.MaxConstant+1)), "value", "value"},
		"the longest constant":    {constant("X-A", strings.Repeat("𝄞", header.MaxConstant)), "", ""},
		"the longest variable":    {custom(strings.Repeat("ö", header.MaxName), "X-A"), "key", ""},
		"a constant in SIP's":     {constant("via", "1"), "", "key"},
		"UUI":                     {uui(header.UUI{Target: "v", Encoding: "hex", Purpose: "isdn-uui", Content: "c"}), "", ""},
		"UUI without a variable":  {uui(header.UUI{}), "target", "target"},
		"UUI in base 64":          {uui(header.UUI{Target: "v", Encoding: "base64"}), "encoding", "encoding"},
		"an odd purpose":          {uui(header.UUI{Target: "v", Purpose: "a;b=c"}), "purpose", "purpose"},
		"an odd content":          {uui(header.UUI{Target: "v", Content: long}), "content", "content"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := []header.Rule{constant("X-First", "1"), test.rule}
			expect(t, header.CheckInbound(rules), test.in)
			expect(t, header.CheckOutbound(rules), test.out)
		})
	}
	expect(t, header.CheckInbound(make([]header.Rule, header.MaxRules+1)), "headers")
}

// expect checks that an error concerns a field of the second rule, or the field "headers". An empty field means that no error is expected.
func expect(t *testing.T, err error, field string) {
	t.Helper()
	if field != "" && field != "headers" {
		field = "headers[1]." + field
	}
	var e *callwright.Error
	switch {
	case field == "" && err != nil:
		t.Errorf("got %v", err)
	case field != "" && (!errors.As(err, &e) || e.Code != callwright.CodeBadRequest || e.Field != field):
		t.Errorf("got %v, want a bad request about %s", err, field)
	}
}

func TestSIPsOwnHeaders(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq(`Via From To Call-ID CSeq Contact Route Record-Route Max-Forwards Content-Type
		Content-Length Content-Disposition Content-Encoding Authorization Proxy-Authorization Proxy-Authenticate
		Proxy-Require WWW-Authenticate Authentication-Info Require Supported Unsupported Allow Session-Expires Min-SE
		User-Agent Server Refer-To Referred-By Replaces Event Subscription-State Expires RSeq RAck Path Identity
		Retry-After Warning Date Reply-To v f t i m l c x r b y u`) {
		if header.CheckOutbound([]header.Rule{custom("v", strings.ToLower(name))}) == nil {
			t.Errorf("a rule may set %s", name)
		}
	}
	for name := range strings.FieldsSeq(`X-Customer P-Asserted-Identity Diversion History-Info Subject User-to-User Alert-Info`) {
		if err := header.CheckOutbound([]header.Rule{custom("v", name)}); err != nil {
			t.Errorf("no rule may set %s: %v", name, err)
		}
	}
}

func FuzzInbound(f *testing.F) {
	for _, seed := range []string{`"a \"b\"";purpose=x`, "48656c6c6f;encoding=hex", "a,b;c=d", `";\`, "\xff;encoding=hex"} {
		f.Add(seed, "hex")
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, value, encoding string) {
		rules := []header.Rule{uui(header.UUI{Target: "v", Encoding: encoding})}
		got := header.Inbound(rules, []header.Header{{Name: "User-to-User", Value: value}})
		text, found := got["v"]
		if len(got) > 1 || found && (text == "" || len(text) > header.MaxValue || strings.ContainsRune(text, 0)) {
			t.Errorf("%q gave %q", value, got)
		}
		if strings.ToValidUTF8(text, "") != text {
			t.Errorf("%q gave %q, which is not UTF-8", value, text)
		}
	})
}
