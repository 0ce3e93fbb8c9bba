package lnurl

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	golnurl "github.com/fiatjaf/go-lnurl"

	"github.com/swapper-go/swapper/fault"
)

// Details are the parameters of a service: a [*Pay] or a [*Withdraw].
type Details interface {
	// Sats returns the lowest and the highest amount in whole sats that the
	// service accepts: rounded inwards, at least 1, and low <= high.
	Sats() (low, high int64)

	details()
}

// Pay is a service that accepts payments. Descriptions and icon are empty if
// the service sends none.
type Pay struct {
	MinSats, MaxSats int64
	ShortDescription string // plain text
	LongDescription  string // plain text
	Icon             string // data URL of a PNG or JPEG image, as the service sent it
	Params           PayParams
}

// PayParams are the parameters of an LNURL-pay service; amounts are in
// millisatoshis.
type PayParams struct {
	Tag             Tag        `json:"tag"`
	Callback        string     `json:"callback"`
	Domain          string     `json:"domain"` // the host that was called
	MinSendable     int64      `json:"minSendable"`
	MaxSendable     int64      `json:"maxSendable"`
	Metadata        string     `json:"metadata"`        // as received; invoices commit to its hash
	DecodedMetadata [][]string `json:"decodedMetadata"` // values that are not strings are left out
	CommentAllowed  int64      `json:"commentAllowed"`  // in UTF-16 code units; 0: no comments
	URL             string     `json:"url"`             // the link that was called, as in [Link.Text]
}

// Withdraw is a service that makes payments.
type Withdraw struct {
	MinSats, MaxSats int64
	Params           WithdrawParams
}

// WithdrawParams are the parameters of an LNURL-withdraw service; amounts are in
// millisatoshis.
type WithdrawParams struct {
	Tag                Tag    `json:"tag"`
	K1                 string `json:"k1"` // secret of this withdrawal
	Callback           string `json:"callback"`
	Domain             string `json:"domain"` // the host that was called
	MinWithdrawable    int64  `json:"minWithdrawable"`
	MaxWithdrawable    int64  `json:"maxWithdrawable"`
	DefaultDescription string `json:"defaultDescription"`
	BalanceCheck       string `json:"balanceCheck,omitempty"`
	PayLink            string `json:"payLink,omitempty"`
	URL                string `json:"url"` // the link that was called, as in [Link.Text]
}

// Sats implements [Details].
func (p *Pay) Sats() (low, high int64) { return p.MinSats, p.MaxSats }

// Sats implements [Details].
func (w *Withdraw) Sats() (low, high int64) { return w.MinSats, w.MaxSats }

func (*Pay) details()      {}
func (*Withdraw) details() {}

// Resolve recognises a text and calls its service: [Parse] and [Client.Fetch].
func (c *Client) Resolve(ctx context.Context, text string) (Details, error) {
	l, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return c.Fetch(ctx, l)
}

// Fetch gets the parameters of a link's service and checks them. It takes at
// most 10 s (protocol: utilities.md §7.1).
func (c *Client) Fetch(ctx context.Context, l Link) (Details, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	u, err := url.Parse(l.url)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "the link does not contain a valid web address")
	}
	o, err := c.get(ctx, u, c.retry)
	if err != nil {
		return nil, err
	}
	tag, _ := o.text("tag")
	switch Tag(tag) {
	case TagPay, TagWithdraw:
	default:
		return nil, wrong(u.Hostname(), "offers neither LNURL-pay nor LNURL-withdraw")
	}
	if l.want != "" && Tag(tag) != l.want {
		return nil, wrong(u.Hostname(), "responded with a %s, but the link is for a %s", tag, l.want)
	}
	var d Details
	if host := strings.ToLower(u.Hostname()); Tag(tag) == TagPay {
		d, err = c.readPay(o, l, host)
	} else {
		d, err = c.readWithdraw(o, l, host)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (c *Client) readPay(o object, l Link, host string) (*Pay, error) {
	if err := o.bounds(host, "minSendable", "maxSendable"); err != nil {
		return nil, err
	}
	wire, err := wireOf[golnurl.LNURLPayParams](o, []string{"callback", "metadata"}, []string{"minSendable", "maxSendable", "commentAllowed"})
	if err != nil {
		return nil, wrong(host, "sent a response that could not be decoded: %v", err)
	}
	p := &Pay{Params: PayParams{
		Tag: TagPay, Domain: host, URL: l.text, Callback: wire.Callback, MinSendable: wire.MinSendable, MaxSendable: wire.MaxSendable,
		Metadata: wire.EncodedMetadata, CommentAllowed: max(0, wire.CommentAllowed), // what is not understood is not used: comments are optional
	}}
	if err := c.checkCallback(o, wire.Callback, host); err != nil {
		return nil, err
	}
	if p.MinSats, p.MaxSats, err = satRange(wire.MinSendable, wire.MaxSendable, host); err != nil {
		return nil, err
	}
	if _, ok := o.text("metadata"); !ok {
		return nil, wrong(host, "sent no metadata")
	}
	return p, p.readMetadata(wire, host)
}

// readMetadata decodes the metadata. Of repeated entries the last one counts;
// both kinds of images count as one (protocol: utilities.md §7.1).
func (p *Pay) readMetadata(wire golnurl.LNURLPayParams, host string) error {
	var entries [][]json.RawMessage
	if err := json.Unmarshal([]byte(p.Params.Metadata), &entries); err != nil || entries == nil {
		return wrong(host, "sent metadata that is not a list of lists")
	}
	p.Params.DecodedMetadata = make([][]string, 0, len(entries))
	for _, entry := range entries {
		texts := make([]string, 0, len(entry))
		for i, raw := range entry {
			var s *string
			if json.Unmarshal(raw, &s) == nil && s != nil {
				texts = append(texts, *s)
			} else if i == 0 {
				break
			}
		}
		if len(texts) == 0 {
			return wrong(host, "sent a metadata entry without a type")
		}
		p.Params.DecodedMetadata = append(p.Params.DecodedMetadata, texts)
	}
	if err := wire.Normalize(); err != nil {
		return wrong(host, "sent metadata that could not be decoded: %v", err)
	}
	p.ShortDescription, p.LongDescription, p.Icon = wire.Metadata.Description, wire.Metadata.LongDescription, wire.Metadata.Image.DataURI
	return nil
}

func (c *Client) readWithdraw(o object, l Link, host string) (*Withdraw, error) {
	if o.absent("minWithdrawable") { // LUD-03: the minimum is optional
		o["minWithdrawable"] = json.RawMessage("1")
	}
	if err := o.bounds(host, "minWithdrawable", "maxWithdrawable"); err != nil {
		return nil, err
	}
	wire, err := wireOf[golnurl.LNURLWithdrawResponse](o, []string{"callback", "k1", "defaultDescription", "balanceCheck", "payLink"}, []string{"minWithdrawable", "maxWithdrawable"})
	if err != nil {
		return nil, wrong(host, "sent a response that could not be decoded: %v", err)
	}
	if err := c.checkCallback(o, wire.Callback, host); err != nil {
		return nil, err
	}
	if wire.K1 == "" {
		return nil, wrong(host, "sent no k1")
	}
	w := &Withdraw{Params: WithdrawParams{
		Tag: TagWithdraw, Domain: host, URL: l.text, K1: wire.K1, Callback: wire.Callback, MinWithdrawable: wire.MinWithdrawable, MaxWithdrawable: wire.MaxWithdrawable,
		DefaultDescription: wire.DefaultDescription, BalanceCheck: wire.BalanceCheck, PayLink: wire.PayLink,
	}}
	if w.MinSats, w.MaxSats, err = satRange(wire.MinWithdrawable, wire.MaxWithdrawable, host); err != nil {
		return nil, err
	}
	return w, nil
}

// checkCallback demands that the callback is one that the client would call.
func (c *Client) checkCallback(o object, callback, host string) error {
	if _, ok := o.text("callback"); !ok {
		return wrong(host, "sent no callback")
	}
	u, err := url.Parse(callback)
	if err != nil {
		return wrong(host, "sent a callback that is not a valid web address")
	}
	if err := c.checkURL(u); err != nil {
		return wrong(host, "sent a callback that is not allowed: %v", err)
	}
	return nil
}

// satRange rounds bounds in millisatoshis inwards to whole sats.
func satRange(minMsat, maxMsat int64, host string) (low, high int64, err error) {
	if minMsat < 0 || maxMsat < minMsat {
		return 0, 0, wrong(host, "sent a minimum amount that is negative or above the maximum")
	}
	low, high = max(1, satsUp(minMsat)), maxMsat/1000
	if low > high {
		return 0, 0, wrong(host, "accepts only amounts below one whole sat")
	}
	return low, high, nil
}

// satsUp rounds up to whole sats.
func satsUp(msat int64) int64 {
	if msat%1000 > 0 {
		return msat/1000 + 1
	}
	return msat / 1000
}
