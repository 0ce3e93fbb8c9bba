package httpapi

import "time"

// Deadlines limits how long the operations may take. A zero field means its
// default.
type Deadlines struct {
	Default           time.Duration // all operations not listed below; 30 s
	CreateSwap        time.Duration // queries several liquidity providers; 1 min, of createGasSwap too
	SubmitTransaction time.Duration // returns within 15 s by itself; 30 s
	SettleWithLnurl   time.Duration // waits for a Lightning payment; 10 min
}

func (d Deadlines) orDefault() Deadlines {
	if d.Default <= 0 {
		d.Default = 30 * time.Second
	}
	if d.CreateSwap <= 0 {
		d.CreateSwap = time.Minute
	}
	if d.SubmitTransaction <= 0 {
		d.SubmitTransaction = 30 * time.Second
	}
	if d.SettleWithLnurl <= 0 {
		d.SettleWithLnurl = 10 * time.Minute
	}
	return d
}
