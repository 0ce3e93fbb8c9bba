package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/swapper-go/swapper"
)

// print writes an answer as the HTTP interface does, indented.
func (c *cli) print(answer any, err error) error {
	if err != nil {
		return err
	}
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(answer)
}

// table writes rows below a heading whose columns are separated by tabs.
func (c *cli) table(heading string, rows func(row func(...any))) error {
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, heading)
	rows(func(cells ...any) {
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, cell)
		}
		fmt.Fprintln(w)
	})
	return w.Flush()
}

func (c *cli) showQuote(s *swapper.CreateSwapOutput) error {
	q := s.Quote
	err := c.table("PAY\tRECEIVE\tPROVIDER'S FEE\tNETWORK'S FEE\tMINERS' FEE ON TOP\tGOOD UNTIL", func(row func(...any)) {
		row(amount(&q.InputAmount), amount(&q.OutputAmount), amount(&q.Fees.Swap), amount(q.Fees.NetworkOutput), amount(q.Fees.NetworkInput), when(q.Expiry))
	})
	if err == nil {
		_, err = fmt.Fprintf(c.out, "swap %s\n", s.SwapID)
	}
	return err
}

// amount writes an amount and its token; "-" for none.
func amount(a *swapper.Amount) string {
	if a == nil {
		return "-"
	}
	return a.Amount + " " + a.Symbol
}

func when(t swapper.Timestamp) string { return t.Local().Format("2006-01-02 15:04:05 MST") }
