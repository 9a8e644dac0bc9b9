package trunks

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// numbersForm holds the data of the set-up step that attaches numbers.
type numbersForm struct {
	Choice choice
	Anyone bool     // the user allows calls from any address
	Held   []string // numbers whose trunks would be replaced
	Prove  []string // numbers of which the organization must prove possession before they can be attached
	Made   string   // a generated password, shown only this once
	Faults page.Faults
}

func (p pages) numbers(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := p.choiceOf(ctx, r)
	return &page.View{Page: "numbers", Title: title, Data: numbersForm{Choice: c}}, err
}

// attached holds the data of the page after numbers were attached. It is shown if some numbers failed or if the password must be shown.
type attached struct {
	Steps      []step
	Choice     choice // the set-up of the failed numbers; its id is empty if none failed
	Configured []callwright.PhoneNumber
	Failed     []sip.FailedNumber
	Password   string
}

// attach stores the form's values in the draft and attaches its numbers, unless the user chose to continue later. If all numbers are
// attached, the set-up is finished. If the user asks for a generated password, the form shows one and nothing is stored.
func (p pages) attach(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := p.choiceOf(ctx, r)
	if err != nil {
		return nil, err
	}
	c = c.numbersOf(r)
	c.Step = setup.StepNumbers
	if r.Field("make") != "" {
		made := sip.GeneratePassword(sip.StandardPassword).Reveal()
		return &page.View{Page: "numbers", Title: title, Data: numbersForm{Choice: c, Anyone: r.Field("anyone") != "", Made: made}}, nil
	}
	form := &page.View{Page: "numbers", Title: title, Status: http.StatusUnprocessableEntity}
	saved, err := p.cfg.Setup.StoreDraft(ctx, c.Draft)
	if err != nil {
		faults, mend := page.FaultsOf(err, nil)
		if !mend || callwright.CodeOf(err) != callwright.CodeBadRequest {
			return nil, err
		}
		form.Data = numbersForm{Choice: c, Faults: faults}
		return form, nil
	}
	c.Draft = saved
	if r.Field("later") != "" {
		return page.SeeOther{To: "/trunks", Notice: "The set-up is kept for 30 days. It goes on from here."}, nil
	}
	done, err := p.attachAll(ctx, c, r.Field("replace") != "", r.Field("anyone") != "")
	if err != nil {
		faults, mend := page.FaultsOf(err, map[string]string{"phone_numbers": "numbers"})
		if !mend {
			return nil, err
		}
		form.Data = numbersForm{Choice: c, Anyone: r.Field("anyone") != "", Held: held(done), Prove: unproven(done), Faults: atField(faults)}
		return form, nil
	}
	rest := p.finish(ctx, c, done)
	if len(done.Failed) == 0 && done.Password == "" {
		return page.SeeOther{To: toTrunk(done.Configured[0].String(), "complete"), Notice: "The numbers are attached."}, nil
	}
	return &page.View{Page: "attached", Title: title, Data: attached{c.Steps("Numbers"), rest, done.Configured, done.Failed, done.Password.Reveal()}}, nil
}

// finish deletes the draft of a set-up, or stores it with the numbers that could not be attached and returns it. Errors of the draft are
// ignored, because the numbers are attached anyway and the page must show their password. The draft then remains in the list of trunks.
func (p pages) finish(ctx context.Context, c choice, done sip.Attached) choice {
	if len(done.Failed) == 0 {
		_ = p.cfg.Setup.Discard(ctx, c.Org, c.ID)
		return choice{}
	}
	c.Numbers = ""
	for _, f := range done.Failed {
		c.Numbers += f.Number + "\n"
	}
	_, _ = p.cfg.Setup.StoreDraft(ctx, c.Draft)
	return c
}

// attachAll attaches all numbers of a draft. It returns an error if it attached none, or if the store became unavailable after some were
// attached. Existing trunks of the numbers are kept unless replace is set. If anyone is set, calls from any address are allowed.
func (p pages) attachAll(ctx context.Context, c choice, replace, anyone bool) (sip.Attached, error) {
	if err := c.Ready(anyone); err != nil {
		return sip.Attached{}, err
	}
	directions, err := c.inputs()
	if err != nil {
		return sip.Attached{}, err
	}
	numbers, err := p.typedNumbers(ctx, c.Org, c.Numbers)
	if err != nil {
		return sip.Attached{}, err
	}
	done, err := p.cfg.Trunks.Attach(ctx, c.Org, sip.Attachment{Numbers: numbers, Directions: directions, Keep: !replace})
	if err != nil || len(done.Configured) > 0 {
		return done, err
	}
	if first := done.Failed[0].Err; strings.HasPrefix(first.Field, "directions[") {
		return done, first // the error of a direction is the same for all numbers
	}
	var reasons []string
	for _, f := range done.Failed {
		reasons = append(reasons, callwright.Clip(f.Number, 40)+" "+f.Err.Message)
	}
	return done, callwright.Invalid("phone_numbers", "%s", callwright.Clip(strings.Join(reasons, "; "), 1000))
}

// held returns the numbers that were not attached because they already have a trunk.
func held(done sip.Attached) (numbers []string) {
	for _, f := range done.Failed {
		if f.Err.Code == callwright.CodeInvalidState && !f.Unproven {
			numbers = append(numbers, f.Number)
		}
	}
	return numbers
}

// unproven returns the numbers that were not attached because they must be proven first.
func unproven(done sip.Attached) (numbers []string) {
	for _, f := range done.Failed {
		if f.Unproven {
			numbers = append(numbers, f.Number)
		}
	}
	return numbers
}

// fields maps the domain's names of a direction's fields to the names of the form's inputs.
var fields = map[string]string{
	"register_auth": "username", "register_auth.username": "username", "register_auth.password": "password",
	"options.sip_username": "username", "options.sip_password": "password", "sip_endpoint": "endpoint", "options.tls_verification": "verify",
	"options.allowed_ips": "allowed",
}

// wireNames replaces the domain's names of fields in messages with the words of the form.
var wireNames = strings.NewReplacer("options.sip_password", "a password", "sip_endpoint", "the server", "auth_mode register", "a registration")

// atField moves the faults of a direction to the form's inputs. A fault without an input becomes a fault of the whole form.
func atField(faults page.Faults) page.Faults {
	placed := page.Faults{}
	for name, text := range faults {
		_, member, within := strings.Cut(name, "].")
		member, _, _ = strings.Cut(member, "[") // without a list index
		if field, ok := fields[member]; within && ok {
			name = field
		} else if within {
			name, text = "", member+" "+text
		}
		placed[name] = wireNames.Replace(text)
	}
	return placed
}

// typedNumbers parses numbers that are separated by line breaks, commas, semicolons or the plus sign of the next number. It does not split
// at spaces, because users type spaces within numbers.
func (p pages) typedNumbers(ctx context.Context, org callwright.OrgID, text string) (numbers []string, err error) {
	var reasons []string
	for typed := range strings.FieldsFuncSeq(strings.ReplaceAll(text, "+", "\n+"), func(c rune) bool { return strings.ContainsRune("\r\n,;", c) }) {
		if typed = strings.TrimSpace(typed); typed == "" {
			continue
		}
		number, err := p.cfg.Trunks.Number(ctx, org, callwright.TypedNumber(typed))
		if err != nil && callwright.CodeOf(err) != callwright.CodeBadRequest {
			return nil, err
		}
		if err != nil {
			reasons = append(reasons, callwright.Clip(typed, 40)+" "+callwright.MessageOf(err))
		}
		numbers = append(numbers, number.String())
	}
	if len(reasons) > 0 {
		return nil, callwright.Invalid("phone_numbers", "%s", callwright.Clip(strings.Join(reasons, "; "), 1000))
	}
	return numbers, nil
}

// words splits a text at white space, commas and semicolons.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) })
}

// prefixes parses IP addresses and networks. An address is a network of one address.
func prefixes(text string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, word := range words(text) {
		network, err := callwright.ParseNetwork(word)
		if err != nil {
			return nil, callwright.Invalid("allowed", "%s %s", callwright.Clip(word, 60), callwright.MessageOf(err))
		}
		all = append(all, network)
	}
	return all, nil
}
