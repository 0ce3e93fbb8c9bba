package swapper

// Side says how a token is used in a swap (ApiSide).
type Side string

// The sides.
const (
	SideInput  Side = "INPUT"  // the token is paid
	SideOutput Side = "OUTPUT" // the token is received
)

// GetSupportedTokensInput is the input of getSupportedTokens.
type GetSupportedTokensInput struct {
	Side Side
}

// Validate checks the input. The error is an [Error] with [CodeInvalidInput]
// that names the field.
func (in *GetSupportedTokensInput) Validate() error {
	return first(oneOf("side", in.Side, SideInput, SideOutput))
}

// GetSwapCounterTokensInput is the input of getSwapCounterTokens.
type GetSwapCounterTokensInput struct {
	Token string // token identifier
	Side  Side   // how Token is used: [SideInput] asks for what can be received for it
}

// Validate checks everything that can be said of the input without knowing the
// chains. The error is an [Error] with [CodeInvalidInput] that names the field.
func (in *GetSwapCounterTokensInput) Validate() error {
	return first(
		required("token", in.Token, maxID),
		oneOf("side", in.Side, SideInput, SideOutput),
	)
}

// GetSwapLimitsInput is the input of getSwapLimits.
type GetSwapLimitsInput struct {
	SrcToken string // identifier of the token that is paid
	DstToken string // identifier of the token that is received
}

// Validate checks everything that can be said of the input without knowing the
// chains. The error is an [Error] with [CodeInvalidInput] that names the field.
func (in *GetSwapLimitsInput) Validate() error {
	return first(
		required("srcToken", in.SrcToken, maxID),
		required("dstToken", in.DstToken, maxID),
	)
}

// GetSwapLimitsOutput is the answer of getSwapLimits. The bounds move as
// liquidity providers come and go.
type GetSwapLimitsOutput struct {
	Input  GetSwapLimitsSide `json:"input"`
	Output GetSwapLimitsSide `json:"output"`
}

// GetSwapLimitsSide is the bounds of one side of a swap.
type GetSwapLimitsSide struct {
	Min Amount  `json:"min"`
	Max *Amount `json:"max,omitempty"` // nil when there is no hard limit
}
