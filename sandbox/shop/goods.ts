/** Goods of the demo shop. */
export interface Goods {
  readonly id: string;
  readonly name: string;
  readonly about: string;
  /** In USDC, the shop's revenue: the payer pays the fee on top. */
  readonly price: string;
}

export const goods: readonly Goods[] = [
  { id: 'sencha', name: 'Sencha, 100 g', about: 'Green, from the first harvest', price: '4.50' },
  { id: 'oolong', name: 'Oolong, 100 g', about: 'Half fermented, from high gardens', price: '7.20' },
  { id: 'pot', name: 'A teapot', about: 'Cast iron, for four cups', price: '24.00' },
];

export const findGoods = (id: string): Goods | undefined => goods.find((each) => each.id === id);
