package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/swapper-go/swapper/internal/trial"
)

// onlyBitcoin lets one swap at a time pay with the user's bitcoin: two would choose the same coins.
var onlyBitcoin sync.Mutex

// Each direction is swapped with the keyboard alone, from the form to the result.
func TestEveryDirection(t *testing.T) {
	t.Parallel()
	chromium(t)
	for i, chain := range []string{"CITREA", "SOLANA", "STARKNET"} { // short of full depth one direction on each
		t.Run(chain, func(t *testing.T) {
			t.Parallel()
			directions := []struct{ from, to, field, amount string }{
				{"LIGHTNING-BTC", chain + "-WBTC", "pay", "0.0005"},
				{chain + "-WBTC", "LIGHTNING-BTC", "receive", "0.0003"},
				{"BITCOIN-BTC", chain + "-WBTC", "pay", "0.002"},
				{chain + "-USDC", "BITCOIN-BTC", "receive", "0.002"},
			}
			if !trial.Full() {
				directions = directions[i : i+1]
			}
			for _, d := range directions {
				t.Run(d.from+" to "+d.to, func(t *testing.T) {
					if d.from == "BITCOIN-BTC" {
						onlyBitcoin.Lock()
						defer onlyBitcoin.Unlock()
					}
					p := browse(t, everyChain(t).url)
					p.ask(d.from, d.to, d.field, d.amount)
					if at := get[string](p, `document.activeElement.id`); at != "headline" {
						t.Errorf("the focus is at %q, not at the quote's title", at)
					}
					if fee := p.text("s-fee"); !strings.Contains(fee, " %)") || strings.HasPrefix(fee, "0 ") {
						t.Errorf("the fees are shown as %q", fee)
					}
					if got := p.finish(); got != "received" {
						t.Errorf("ended as %q: %s", got, p.text("lead"))
					}
					if title := p.text("headline"); !strings.HasSuffix(title, " received") {
						t.Errorf("the title is %q", title)
					}
				})
			}
		})
	}
}

// phases has the page note each phase that is shown, from now on.
func (p tab) phases() {
	p.Helper()
	p.do(chromedp.Evaluate(`window.phases = [document.getElementById('view-swap').dataset.phase]; new MutationObserver(() => { const now = document.getElementById('view-swap').dataset.phase; if (window.phases.at(-1) !== now) window.phases.push(now); }).observe(document.getElementById('view-swap'), { attributes: true, attributeFilter: ['data-phase'] })`, nil))
}

// After the button the screen says each moment what goes on, and the clock of the quote is gone.
func TestNoDeadSecond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, from, to, field, amount string
		first                         []string
	}{
		{"a payment", "LIGHTNING-BTC", "STARKNET-USDC", "pay", "0.0004", []string{"deposit", "sending", "sent"}},
		{"a signature", "STARKNET-USDC", "LIGHTNING-BTC", "receive", "0.0004", []string{"sign", "asking", "sending"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := browse(t, everyChain(t).url)
			p.ask(c.from, c.to, c.field, c.amount)
			if get[bool](p, `document.getElementById('timer').hidden`) {
				t.Error("the quote has no clock before it is paid")
			}
			p.phases()
			p.key("go")
			p.until(fmt.Sprintf(`window.phases.length > %d`, len(c.first)))
			if got := get[[]string](p, `window.phases`)[:len(c.first)]; !slices.Equal(got, c.first) {
				t.Errorf("the phases are %q, want %q first", got, c.first)
			}
			if !get[bool](p, `document.getElementById('timer').hidden`) {
				t.Error("the quote's clock goes on when it is paid")
			}
			if far := get[string](p, `document.getElementById('bar').getAttribute('aria-valuenow')`); far == "" {
				t.Error("the bar has no value")
			}
			if got := p.finish(); got != "received" {
				t.Errorf("ended as %q", got)
			}
		})
	}
}

// A payment that needs blocks is seen with its confirmations; meanwhile another swap can be
// started, and the first is found again in the list.
func TestAnotherSwap(t *testing.T) {
	t.Parallel()
	w := own(t, nil)
	p := browse(t, w.url)
	p.ask("BITCOIN-BTC", "CITREA-WBTC", "pay", "0.002")
	first := get[string](p, `location.hash`)
	p.key("go")
	p.until(`/^0 of [1-9]\d* confirmation/.test(document.getElementById('lead').textContent)`)
	p.key("another")
	p.until(`!document.getElementById('view-form').hidden && document.getElementById('running').textContent === '1'`)
	if got := get[string](p, `document.getElementById('pay').value`); got != "" {
		t.Errorf("the new form has %q of the old swap", got)
	}
	p.ask("LIGHTNING-BTC", "CITREA-WBTC", "pay", "0.0003")
	if get[string](p, `location.hash`) == first {
		t.Error("the second swap has the address of the first")
	}
	p.key("to-swaps")
	p.until(`document.querySelectorAll('#swaps li').length === 2`)
	var states []string
	p.do(chromedp.Evaluate(`[...document.querySelectorAll('#swaps .state')].map((e) => e.textContent)`, &states))
	if !slices.Equal(states, []string{"Not paid yet", "Under way"}) {
		t.Errorf("the list has the states %q", states)
	}
	for get[string](p, `document.activeElement.getAttribute('href') ?? ''`) != first {
		p.press(kb.Tab)
	}
	p.press(kb.Enter)
	if got := p.finish(); got != "received" || get[string](p, `location.hash`) != first {
		t.Errorf("ended as %q at %s", got, get[string](p, `location.hash`))
	}
}

// A quote that was asked for before the form changed cannot be paid, also after a reload.
func TestOldQuoteCannotBePaid(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url)
	p.ask("LIGHTNING-BTC", "CITREA-WBTC", "pay", "0.0005")
	p.key("change")
	p.until(`!document.getElementById('view-form').hidden`)
	if got := get[string](p, `document.getElementById('pay').value`); got != "0.0005" {
		t.Errorf("the form has %q, not what was quoted", got)
	}
	p.do(chromedp.NavigateBack())
	p.phase("deposit") // the form has not changed
	p.do(chromedp.NavigateForward())
	p.until(`!document.getElementById('view-form').hidden`)
	p.write("pay", "0.0006")
	p.do(chromedp.NavigateBack())
	p.phase("dropped")
	p.do(chromedp.Reload())
	p.phase("dropped")
	if get[bool](p, `!document.getElementById('deposit').hidden`) {
		t.Error("the old invoice can still be scanned")
	}
	p.look("dropped")
	p.key("go")
	p.until(`!document.getElementById('view-form').hidden`)
}

// Back and Forward change what is shown, a reload keeps it, and a link opens a swap in
// another browser, in each form that links have had.
func TestAddresses(t *testing.T) {
	t.Parallel()
	w := everyChain(t)
	p := browse(t, w.url)
	p.ask("LIGHTNING-BTC", "CITREA-WBTC", "pay", "0.0005")
	title := p.text("headline")
	p.do(chromedp.Reload())
	p.phase("deposit")
	p.key("to-swaps")
	p.until(`!document.getElementById('view-swaps').hidden`)
	p.do(chromedp.NavigateBack())
	p.phase("deposit")
	if got := p.text("headline"); got != title {
		t.Errorf("Back shows %q, not %q", got, title)
	}
	p.do(chromedp.NavigateBack())
	p.until(`!document.getElementById('view-form').hidden`)
	p.do(chromedp.NavigateForward())
	p.phase("deposit")
	id := strings.TrimPrefix(get[string](p, `location.hash`), "#/swap/")
	for _, form := range []string{"#/swap/" + id, "?swap=" + id, "#" + id} {
		other := browse(t, w.url+"/"+form)
		other.phase("deposit")
		if got := get[string](other, `location.hash`); got != "#/swap/"+id {
			t.Errorf("%.10s: the address becomes %q", form, got)
		}
	}
}
