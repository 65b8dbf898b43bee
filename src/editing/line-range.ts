/** Lines that an edit names, 1-based and inclusive. */
export interface LineRange {
  readonly from: number
  readonly to: number
}
